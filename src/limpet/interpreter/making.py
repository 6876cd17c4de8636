"""Making facts of records and events of facts: pure, without clock, store or order of arrival.

The same facts in any order give the same events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import text
from limpet.interpreter.folding import fold
from limpet.interpreter.occurrences import occurrences
from limpet.interpreter.places import LAST
from limpet.runtimes import meaning
from limpet.runtimes.saying import saying_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from limpet.model import Event, Fact, Record
    from limpet.runtimes.saying import Saying


def facts_of(record: Record) -> Sequence[Fact]:
    """Return what a record says.

    A kind that nobody knows gives a fact of type `unknown`, so that it can be found; so does a record that its reader
    stumbles over, with the flag `misread`. What a record says beyond its 4,095th part stays in the record, and is told.
    """
    saying = saying_of(record)
    read = meaning.of(record.kind)
    if read is None:
        return [_unknown(saying, "not known to Limpet")]
    try:
        facts = read(saying)
    except Exception:  # noqa: BLE001 - a fault of ours must not stop the recorder; `rebuild` reads the record again
        return [_unknown(saying, "could not be read by Limpet", "misread")]
    if all(fact.place[1] <= LAST for fact in facts):
        return facts
    kept = [fact for fact in facts if fact.place[1] < LAST]
    return [*kept, _unknown(saying, f"{len(facts) - len(kept):,} more parts than are told", part=LAST)]


def _unknown(saying: Saying, why: str, *flags: str, part: int = 0) -> Fact:
    summary = text.one_line(f"{saying.record.kind} ({why})", 200)
    return saying.fact("unknown", "whole", part, actor="system", trust="unknown", summary=summary, flags=flags)


def events_of(facts: Iterable[Fact]) -> list[Event]:
    """Return the events that these facts are about, sorted by id.

    All facts that share keys, directly or through others, must be given together. What has a start and no end comes as
    `open`, with the status `started`; `status_without_end` says what the evidence makes of it.
    """
    return sorted(map(fold, occurrences(facts)), key=lambda event: event.id)


def status_without_end(kind: str, *, ended: bool, restarted: bool) -> str:
    """Return the status of what has no end: `ended` that its run did, `restarted` that a gateway started later."""
    if ended and kind != "run":
        return "unknown"
    return "interrupted" if restarted else "started"
