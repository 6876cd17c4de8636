"""Verification: the ledger read again byte by byte, and everything made from it made anew beside it. Changes nothing.

Four parts: the chain (`chain`), the events (`likeness`), what the store knows of its own work (`books`), the index and
the audit's counts (here). None of them believes what the database says of itself: the events are made again in a
scratch copy and held against those that are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import apsw

from limpet import text
from limpet.checking import books
from limpet.checking.chain import Chain
from limpet.checking.likeness import differences
from limpet.interpretation import Interpretation
from limpet.store.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from limpet.checking.chain import Sealed
    from limpet.spool.reader import SpoolSource
    from limpet.store.records import Stored
    from limpet.store.sqlite import SqliteStore

PAGE = 1000
MOST_FAULTS = 1000
"""Faults that are told one by one; a damaged file may hold millions."""

WEEK_MS = 7 * 86_400_000
GRACE_MS = 5_000
"""The audit ledger may be read a moment before the hook that tells of the same action."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: how much was read, the head's hash as hex, every fault, and what is good to know.

    `faults` are told oldest first, at most MOST_FAULTS of them. `seals` is how many copies of seals were held against
    the chain, `forgotten` how many records have no content any more, `begins` the number after which the ledger begins.
    `seal` is the head as NUMBER:HASH, to be kept elsewhere; "" for a fleet, whose machines have each their own.
    """

    records: int
    events: int
    head: str
    faults: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    seals: int = 0
    forgotten: int = 0
    begins: int = 0
    seal: str = ""


def verify(
    store: SqliteStore,
    progress: Callable[[int], None],
    *,
    seals: Iterable[Sealed] = (),
    now_ms: int | None = None,
    indexed: bool = True,
    spool: SpoolSource | None = None,
) -> Verdict:
    """Check the chain, the events, the index, the store's own books, and OpenClaw's audit ledger (up to `now_ms`).

    `seals` are copies that were found elsewhere; `indexed` says whether there is an index: a copy has none; `spool` is
    what the memory takes in, for files of it that are still there. Reads as of one moment: the caller holds the
    snapshot of both files.
    """
    with Scratch(store.records) as scratch:
        chain = Chain(store, scratch, seals)
        made = Interpretation(scratch)
        while page := store.records.after(chain.no, PAGE):
            chain.take(page)
            _make(made, scratch, store, page, indexed=indexed)
            progress(chain.no)
        faults = [
            *chain.finish(),
            *islice(differences(store.find, scratch.find), MOST_FAULTS),
            *islice(books.differences(store, scratch, chain.forgotten + chain.lost + chain.begins, spool), MOST_FAULTS),
            *(islice(_index_faults(store, scratch), MOST_FAULTS) if indexed else ()),
            *_count_faults(store, now_ms),
        ]
    return Verdict(
        records=chain.records,
        events=store.find.bounds()[2],
        head=chain.hash.hex(),
        faults=tuple(faults[:MOST_FAULTS]),
        remarks=tuple(chain.remarks),
        seals=chain.held,
        forgotten=chain.forgotten,
        begins=chain.begins,
        seal=f"{chain.no}:{chain.hash.hex()}",
    )


def _make(made: Interpretation, scratch: Scratch, store: SqliteStore, page: Sequence[Stored], *, indexed: bool) -> None:
    """Make the events of a page in the scratch copy, and index their texts where the real ones stand."""
    kept = [stored.record for stored in page if stored.content is not None]
    made.take(kept)
    books.note(scratch, kept)
    texts = made.new_texts() if indexed else {}
    where = store.find.positions_of(texts)
    scratch.index({where[number]: text for number, text in texts.items() if number in where})
    made.shrink()


def _index_faults(store: SqliteStore, scratch: Scratch) -> Iterator[str]:
    """Yield each event of which the index holds other words than the ledger gives, or words of none."""
    behind = store.stale_positions()
    wrong: set[int] = set()
    try:
        for _, pos, _ in _unmatched(store.index.words(), scratch.words()):
            if pos not in behind and len(wrong) < MOST_FAULTS:
                wrong.add(pos)
    except apsw.CorruptError as error:
        yield f"the text index is damaged: {error} (limpet rebuild makes it anew)"
    ids = store.events.ids_at(wrong)
    for pos in sorted(wrong):
        what = (
            f"event {ids[pos]} has other words in the text index" if pos in ids else "the text index has an event more"
        )
        yield f"{what} than the ledger gives (limpet rebuild makes the index again)"


def _unmatched(
    left: Iterator[tuple[str, int, int]], right: Iterator[tuple[str, int, int]]
) -> Iterator[tuple[str, int, int]]:
    """Yield what only one of two rising sequences has."""
    a, b = next(left, None), next(right, None)
    while a is not None or b is not None:
        if a == b:
            a, b = next(left, None), next(right, None)
        elif b is None or (a is not None and _before(a, b)):
            assert a is not None  # noqa: S101 - for the type checker
            yield a
            a = next(left, None)
        else:
            yield b
            b = next(right, None)


def _before(a: tuple[str, int, int], b: tuple[str, int, int]) -> bool:
    return (a[0].encode(), *a[1:]) < (b[0].encode(), *b[1:])


def _count_faults(store: SqliteStore, now_ms: int | None) -> Iterator[str]:
    """Yield what OpenClaw's audit ledger counted and no event tells of, week by week."""
    bounds = store.find.audit_bounds()
    if bounds is None:
        return
    since, last = bounds
    until = last + 1 if now_ms is None else min(last + 1, now_ms - GRACE_MS)
    actions = runs = 0
    while since < until:
        found = store.state.counted(since, min(since + WEEK_MS, until))
        actions, runs = actions + found.missing_actions, runs + found.missing_runs
        since += WEEK_MS
    for missing, what in ((actions, "tool action"), (runs, "run")):
        if missing:
            yield f"OpenClaw's audit ledger counted {text.counted(missing, what)} that no event tells of"
