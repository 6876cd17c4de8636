"""What went wrong, in statements: one by one while there are few, by kind when there are many; what has no end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.deeds.deed import FAMILIES
from limpet.deeds.quoting import quoted
from limpet.note.ids import Ids
from limpet.note.kinds import FEW
from limpet.note.stating import ERROR_CHARS, stated, stated_one, stated_rest, times, why
from limpet.note.tally import FAILED_IDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.note.hours import Hours
    from limpet.note.kinds import Kind, Mishap, Mishaps
    from limpet.note.statement import Statement
    from limpet.note.tally import Tally

ENDINGS = {
    "timed_out": "ran into its time limit {when}",
    "blocked": "was not allowed {when}",
    "cancelled": "was cancelled {when}",
    "interrupted": "was cut off {when}",
    "started": "was begun {when} and no end of it is known",
    "unknown": "was begun {when} and no end of it is known",
}
"""How each status is told; every other one is a failure."""


def failed_of(tally: Tally, hours: Hours) -> Iterator[Statement]:
    """Yield the failed calls: each while there are few, else each kind, with the ids of all as far as they are kept."""
    if tally.failed.ids.count <= FEW:
        yield from (_mishap("failed", mishap, hours) for mishap in tally.failed.few)
        return
    kinds = [kind for family in FAMILIES for kind in tally.kinds.get(family, {}).values() if kind.failed.count]
    kinds.sort(key=lambda k: (k.rest, -k.failed.count, k.failed.first_ms, k.deed.key))
    told, others = kinds[:FEW], kinds[FEW:]
    for kind in told:
        yield _failed_kind(kind, hours)
    if others:
        ids = Ids(FAILED_IDS)
        for kind in others:
            ids.merge(kind.failed)
        mended = sum(kind.mended for kind in others)
        words = f"{ids.count:,} more calls failed, of other kinds{_made_good(ids.count, mended)}"
        yield stated("failed", words, ids, brief=f"{ids.count:,} calls of other kinds")


def _failed_kind(kind: Kind, hours: Hours) -> Statement:
    ids = kind.failed
    shown = "calls of other kinds" if kind.rest else kind.shown
    if ids.count == 1:
        words = f"{shown} failed {hours.at(ids.first_ms)}{why(kind.error)}{_made_good(1, kind.mended)}"
        return stated("failed", words, ids, brief=f"{shown}{why(kind.error)}")
    last = f", at last with {quoted(kind.error, ERROR_CHARS)}" if kind.error else ""
    span = f"between {hours.time(ids.first_ms)} and {hours.time(ids.last_ms)}"
    words = f"{shown} failed {times(ids.count)} {span}{last}{_made_good(ids.count, kind.mended)}"
    return stated("failed", words, ids, brief=f"{shown} {times(ids.count)}{why(kind.error)}")


def _made_good(count: int, mended: int) -> str:
    if not mended:
        return ""
    if mended == count:
        return ", and a later one succeeded"
    return f", and after {mended:,} of them a later one succeeded"


def _mishap(kind: str, mishap: Mishap, hours: Hours) -> Statement:
    event = mishap.event
    if event.type == "error":
        words = f"error {hours.at(event.at_ms)}: {quoted(event.summary or event.error, ERROR_CHARS)}"
        return stated_one(kind, words, event, brief=words)
    when = hours.at(event.at_ms)
    later = f", and a later one succeeded{_later(mishap, hours)}" if mishap.mended is not None else ""
    end = ENDINGS.get(event.status, "failed {when}").format(when=when)
    words = f"{mishap.shown} {end}{why(event.error)}{later}"
    brief = f"{mishap.shown} {when}{why(event.error)}"
    return stated_one(kind, words, event, mishap.mended, brief=brief if kind == "failed" else words)


def _later(mishap: Mishap, hours: Hours) -> str:
    """Return when it was made good, where that is another minute."""
    then = hours.at(mishap.mended.at_ms) if mishap.mended is not None else ""
    return f" {then}" if then != hours.at(mishap.event.at_ms) else ""


def mishaps_of(kind: str, mishaps: Mishaps, hours: Hours) -> Iterator[Statement]:
    """Yield the first few, one by one, and how many more there are."""
    told = mishaps.few[:FEW]
    yield from (_mishap(kind, mishap, hours) for mishap in told)
    rest = mishaps.ids.count - len(told)
    if rest > 0:
        what = {"stopped": "were not allowed or cancelled", "open": "have no end"}.get(kind, "went wrong")
        words = f"{rest:,} more {what}"
        yield stated_rest(kind, words, mishaps.ids, {mishap.event.id for mishap in told}, brief=words)


def open_of(tally: Tally, hours: Hours) -> Iterator[Statement]:
    """Yield the calls without an end and the messages without an answer."""
    yield from mishaps_of("open", tally.open, hours)
    waiting = sorted(tally.turns.waiting.values(), key=lambda found: (found[0].at_ms, found[0].id))
    for event, ids in waiting[:FEW]:
        more = f" and {ids.count - 1:,} more" if ids.count > 1 else ""
        words = f"{quoted(event.summary, 70)}{more} {hours.at(event.at_ms)} had no answer by midnight"
        yield stated("open", words, ids, brief=words)
    if waiting[FEW:]:
        ids = Ids()
        for _, more_ids in waiting[FEW:]:
            ids.merge(more_ids)
        words = f"{ids.count:,} more message{'s have' if ids.count > 1 else ' has'} no answer by midnight"
        yield stated("open", words, ids, brief=words)


def trouble_of(tally: Tally, hours: Hours) -> Iterator[Statement]:
    """Yield what went wrong and is no tool call: errors, runs, cron jobs, deliveries, model calls."""
    yield from mishaps_of("trouble", tally.trouble, hours)
    if "model" in tally.plain:
        words = f"{tally.plain['model'].count:,} of {tally.counts['model_calls']:,} model calls failed"
        yield stated("trouble", words, tally.plain["model"], brief=words)
