"""What the store knows of its own work, held against the ledger: streams, cursors, counts. Not for the events.

What nothing in the ledger tells of cannot be checked: when a source was last read, how many records came twice, how
many secrets and images were taken out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import clock
from limpet.burial import KEPT_FROM
from limpet.recorder import streams_of
from limpet.runtimes.openclaw import audit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.model import Record
    from limpet.spool.reader import SpoolSource
    from limpet.store.scratch import Scratch
    from limpet.store.sqlite import SqliteStore
    from limpet.store.state import Stream

NAMED = 3
"""So many lines are named by their ids; the others are counted."""


def note(scratch: Scratch, records: Sequence[Record]) -> None:
    """Take in what these records say of the streams that they came in."""
    scratch.state.put_streams(streams_of(records))


def differences(store: SqliteStore, scratch: Scratch, gone: int, spool: SpoolSource | None) -> Iterator[str]:
    """Yield what the ledger contradicts, a sentence each; `gone` records have no content any more, or are not there.

    `spool` is the one that this memory takes in, None where it takes in none.
    """
    yield from _of_the_streams(store, scratch, gone + store.state.counts().get("forgotten", 0))
    yield from _of_the_schema(store)
    yield from _of_the_days(store)
    yield from _of_the_rejected(store)
    yield from _of_the_audit(store)
    if spool is not None and not _shuns(store):
        yield from _of_the_spool(store, spool)


def _of_the_schema(store: SqliteStore) -> Iterator[str]:
    """Yield what a view, an index or a trigger says that another one said when it was made."""
    for kind, name, definition in store.strays():
        mended = "" if kind == "table" else " (limpet rebuild makes it again)"
        yield f"the {kind} {name} is {'not as it was made' if definition else 'not one of ours'}{mended}"


def _of_the_streams(store: SqliteStore, scratch: Scratch, gone: int) -> Iterator[str]:
    """Hold each stream's numbers against its records: they decide how many events are said to be missing."""
    given = {stream.name: stream for stream in scratch.state.streams()}
    surplus = 0
    for stream in store.state.streams():
        theirs = given.pop(stream.name, None)
        more = stream.records - (theirs.records if theirs else 0)
        surplus += more
        if more < 0 or (theirs is not None and not _holds(stream, theirs, exactly=more == 0)):
            yield f"stream {stream.name} does not say what its records give: how many, their numbers, or their times"
    yield from (f"stream {name} is not known of, but there are records of it" for name in given)
    if surplus > gone:
        yield f"streams are said to have given {surplus:,} records that are not in the ledger, which lacks {gone:,}"


def _holds(stream: Stream, given: Stream, *, exactly: bool) -> bool:
    """Whether a stream says the same as its records, or, where some of them are gone, no less."""
    if exactly:
        return stream == given
    return (
        stream.source == given.source
        and stream.low <= given.low <= given.high <= stream.high
        and stream.first_ms <= given.first_ms <= given.last_ms <= stream.last_ms
        and stream.ended >= given.ended
    )


def _of_the_days(store: SqliteStore) -> Iterator[str]:
    """Hold the counts by day, which answers about long windows are made of, against the events."""
    for day in store.find.miscounted_days():
        yield f"the counts of day {day} since 1970 (UTC) are not those of its events (limpet rebuild counts them again)"


def _of_the_rejected(store: SqliteStore) -> Iterator[str]:
    """Hold the number of lines that could not be read against those that are remembered, each once."""
    counted, known = store.state.counts().get("rejected", 0), len(store.state.cursor("rejected"))
    if counted > known:
        yield f"{counted:,} lines are said to have been rejected, and {known:,} are known"


def _of_the_audit(store: SqliteStore) -> Iterator[str]:
    """Hold the place up to which OpenClaw's audit ledger was read against the record of that place."""
    for said in store.state.cursor(audit.SOURCE).values():
        held = isinstance(said, dict) and store.records.known([audit.id_of(said.get("event_id"))])
        if not held and not _shuns(store):
            yield "OpenClaw's audit ledger is said to have been read up to an entry that is not in the ledger"


def _of_the_spool(store: SqliteStore, spool: SpoolSource) -> Iterator[str]:
    """Hold the places up to which the spool's files were read against the lines before them, where those are there."""
    for item, records, at_a_line in spool.taken(store.state.cursor("spool"), clock.now_ms()):
        if not at_a_line:
            yield f"spool file {item} is said to have been read up to the middle of a line"
        known = store.records.known([record.id for record in records])
        if lost := [record.id for record in records if record.id not in known]:
            more = f" and {len(lost) - NAMED:,} more" if len(lost) > NAMED else ""
            named = ", ".join(lost[:NAMED])
            yield f"spool file {item} is said to have been read, but lines of it are not in the ledger: {named}{more}"


def _shuns(store: SqliteStore) -> bool:
    """Whether something may have been read and kept out on purpose: it was forgotten before, or is too old."""
    return bool(store.custody.count_tombstones() or store.state.meta(KEPT_FROM))
