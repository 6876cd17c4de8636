"""What Limpet itself did to its ledger, as records of the ledger: forgot, cleaned again, cut off, put back. Pure.

Such a record vouches for what can no longer be checked otherwise: which records were forgotten and what their columns
say, which leaf a cleaned record has now, where the ledger begins. Not for doing any of it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from limpet.model import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from limpet.model import Json

SOURCE, STREAM = "limpet", "limpet-amendments"
FORGET, REDACT, PRUNE, RESTORE = "limpet_forget", "limpet_redact", "limpet_prune", "limpet_restore"
RESCUE, LOST = "limpet_rescued", "limpet_lost"
KINDS = frozenset({FORGET, REDACT, PRUNE, RESTORE, RESCUE})

Ranges = tuple[tuple[int, int], ...]
"""Numbers as (first, last), both included, ascending."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Which records lost their bytes, the digest of the columns that they keep, and what must not come back."""

    ranges: Ranges
    digest: str
    keys: tuple[tuple[int, int, int], ...]


def forgot(
    job: str, ranges: Ranges, digest: str, keys: Iterable[Sequence[int]], said: Mapping[str, Json]
) -> dict[str, Json]:
    """Return what the record of a batch of forgetting says; `said` is for people: counts of the whole job.

    `keys` are (join key, from, until): what has that key and happened then must not come back.
    """
    told = {"records": [list(one) for one in ranges], "digest": digest, "keys": [list(one) for one in keys]}
    return {"job": job, **told, **said}


def cleaned(job: str, leaves: Mapping[int, bytes], said: Mapping[str, Json]) -> dict[str, Json]:
    """Return what the record of a batch of cleaning says: the new leaf of each record that was changed."""
    return {"job": job, "leaves": {str(no): leaf.hex() for no, leaf in leaves.items()}, **said}


def sealed(no: int, digest: bytes, said: Mapping[str, Json]) -> dict[str, Json]:
    """Return what a record about a place of the ledger says: its number and its hash."""
    return {"no": no, "hash": digest.hex(), **said}


def record(kind: str, event: Mapping[str, Json], record_id: str, now_ms: int) -> Record:
    """Return the record of an amendment."""
    body = {"hook": kind, "ts": now_ms, "ctx": {}, "event": dict(event)}
    return Record(record_id, SOURCE, STREAM, now_ms, kind, body, now_ms)


def carried(one: Record) -> Record:
    """Return a record as it can be said in a ledger that was made anew: what it vouched for there has other links now.

    What must not come back is still said; the records that were forgotten, or cleaned, stand there as they are.
    """
    event = _event(one, one.kind) if one.kind in (FORGET, REDACT) else None
    if event is None:
        return one
    none: Mapping[str, Json] = {"records": [], "digest": digest_of(())}
    changed = none if one.kind == FORGET else {"leaves": {}}
    return replace(one, body={**one.body, "event": {**event, **changed}})


def plain_kind(one: Record) -> str:
    """Return a record's kind as it may come from outside: nobody but Limpet itself says what was done to its ledger."""
    return f"claimed {one.kind}" if one.kind in KINDS else one.kind


def forgotten_in(one: Record) -> Forgotten | None:
    """Return what a record says was forgotten, None where it says nothing of the kind."""
    event = _event(one, FORGET)
    try:
        if event is None:
            return None
        ranges = tuple((int(first), int(last)) for first, last in event["records"])
        keys = tuple((int(key), int(since), int(until)) for key, since, until in event.get("keys", ()))
        return Forgotten(ranges, str(event["digest"]), keys)
    except (KeyError, TypeError, ValueError):
        return None


def leaves_in(one: Record) -> dict[int, bytes]:
    """Return the new leaves that a record tells of, by record number."""
    event = _event(one, REDACT)
    try:
        return {int(no): bytes.fromhex(leaf) for no, leaf in event["leaves"].items()} if event else {}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def place_in(one: Record, kind: str) -> tuple[int, bytes] | None:
    """Return the (number, hash) that a record of this kind tells of."""
    event = _event(one, kind)
    try:
        return (int(event["no"]), bytes.fromhex(event["hash"])) if event else None
    except (KeyError, TypeError, ValueError):
        return None


def digest_of(rows: Iterable[tuple[Record, bytes | None, bytes]]) -> str:
    """Return the digest of what stays of forgotten records: their columns, leaf and hash, in their order."""
    whole = hashlib.sha256()
    for one, leaf, link in rows:
        columns = (one.no, one.id, one.source, one.stream, one.seq, one.kind, one.arrived_ms)
        fields = [*(str(value).encode() for value in columns), leaf or b"", link]
        whole.update(b"".join(b"%d:%b" % (len(field), field) for field in fields))
    return whole.hexdigest()


def ranges_of(numbers: Iterable[int]) -> Ranges:
    """Return numbers as ranges."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return tuple((first, last) for first, last in found)


def numbers_in(ranges: Sequence[Sequence[int]]) -> Iterator[int]:
    """Yield every number of these ranges."""
    for first, last in ranges:
        yield from range(first, last + 1)


def without(ranges: Sequence[Sequence[int]], others: Iterable[Sequence[int]]) -> Ranges:
    """Return the numbers of some ascending ranges that are in none of the others."""
    left: list[tuple[int, int]] = []
    holes = sorted((first, last) for first, last in others)
    nth = 0
    for first, last in ranges:
        at = first
        while nth < len(holes) and holes[nth][1] < at:
            nth += 1
        look = nth
        while at <= last and look < len(holes) and holes[look][0] <= last:
            if at < holes[look][0]:
                left.append((at, holes[look][0] - 1))
            at = max(at, holes[look][1] + 1)
            look += 1
        if at <= last:
            left.append((at, last))
    return tuple(left)


def split(ranges: Sequence[Sequence[int]], most: int) -> tuple[list[int], Ranges]:
    """Return the first `most` numbers, and the ranges of those that are left."""
    taken: list[int] = []
    for nth, (first, last) in enumerate(ranges):
        room = most - len(taken)
        if last - first + 1 > room:
            taken += range(first, first + room)
            return taken, ((first + room, last), *((a, b) for a, b in ranges[nth + 1 :]))
        taken += range(first, last + 1)
    return taken, ()


def _event(one: Record, kind: str) -> Any:
    event = one.body.get("event") if one.kind == kind and isinstance(one.body, dict) else None
    return event if isinstance(event, dict) else None
