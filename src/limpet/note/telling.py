"""From what was tallied to statements: which things are told one by one, and which together with their true counts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from limpet.deeds.deed import FAMILIES
from limpet.deeds.quoting import plain, quoted
from limpet.note.failing import failed_of, mishaps_of, open_of, trouble_of
from limpet.note.ids import Ids
from limpet.note.kinds import FEW
from limpet.note.statement import KINDS, Statement
from limpet.note.stating import ERROR_CHARS, stated, stated_one, stated_rest, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.note.hours import Hours
    from limpet.note.kinds import Kind
    from limpet.note.tally import Tally

NAMED_KINDS = {"ran": 10, "wrote": 10, "used": 6, "opened": 5, "searched": 4, "read": 5}
"""How many kinds of each family are told; where there are more, those that were done most."""

OTHERS = {
    "ran": "other commands",
    "wrote": "other files",
    "used": "other tools",
    "opened": "other pages",
    "searched": "for other things",
    "read": "other files",
}
DECIDING = frozenset({"decision", "decided"})


def statements_of(tally: Tally, hours: Hours) -> tuple[Statement, ...]:
    """Return every statement, in the order of KINDS, each kind in the order in which it is told."""
    found = chain(
        _asked(tally, hours), _done(tally), failed_of(tally, hours),
        mishaps_of("stopped", tally.stopped, hours), open_of(tally, hours), trouble_of(tally, hours),
        _delivered(tally), _cron(tally, hours), _subagents(tally, hours), _added(tally, hours), _plain(tally, hours),
    )  # fmt: skip
    return tuple(sorted(found, key=lambda one: KINDS.index(one.kind)))


def _asked(tally: Tally, hours: Hours) -> Iterator[Statement]:
    told = sorted(tally.turns.asks, key=lambda ask: (ask.event.at_ms, ask.event.id))
    for ask in told:
        words = f"{quoted(ask.event.summary)} {hours.at(ask.event.at_ms)}"
        said = f", and answered {quoted(ask.answer.summary)}" if ask.answer is not None else ""
        yield stated_one(
            "asked", words + said, ask.event, ask.answer, verb="was asked", brief=quoted(ask.event.summary, 70)
        )
    rest = tally.turns.asked.count - len(told)
    if rest > 0:
        words = f"{rest:,} more message{'s' if rest > 1 else ''}"
        here = {ask.event.id for ask in told}
        yield stated_rest("asked", words, tally.turns.asked, here, verb="was asked", brief=words)


def _done(tally: Tally) -> Iterator[Statement]:
    for family in FAMILIES:
        kinds = [kind for kind in tally.kinds.get(family, {}).values() if kind.told.count]
        most = NAMED_KINDS[family]
        best = sorted((k for k in kinds if not k.rest), key=lambda k: (-k.told.count, k.told.first_ms, k.deed.key))
        told, others = best[:most], best[most:] + [k for k in kinds if k.rest]
        for kind in sorted(told, key=lambda k: (k.told.first_ms, k.told.kept)):
            verb = _verb(kind)
            brief = kind.shown + _how_often(kind)
            yield stated("file" if family == "wrote" else "done", f"{verb} {brief}", kind.told, verb=verb, brief=brief)
        if others:
            yield _others(family, others)


def _verb(kind: Kind) -> str:
    if kind.deed.family != "wrote":
        return kind.deed.family
    if kind.told.count == kind.without:
        return "tried to write"
    return "wrote" if kind.made else "changed"


def _how_often(kind: Kind) -> str:
    n, without = kind.told.count, kind.without
    often = f" {times(n)}" if n > 1 else ""
    if not without:
        return often
    if n == 1:
        return " (without success)"
    return (
        f"{often} ({'never' if without == n else times(without) + ' without'}{' with' if without == n else ''} success)"
    )


def _others(family: str, kinds: Sequence[Kind]) -> Statement:
    ids = Ids()
    for kind in sorted(kinds, key=lambda k: k.told.first_ms):
        ids.merge(kind.told)
    without = sum(kind.without for kind in kinds)
    many = "" if any(kind.rest for kind in kinds) else f"{len(kinds):,} "
    what = OTHERS[family] if family == "searched" or len(kinds) > 1 or not many else OTHERS[family].removesuffix("s")
    failed = f", {times(without)} without success" if without else ""
    brief = f"{many}{what} ({ids.count:,} call{'s' if ids.count > 1 else ''}{failed})"
    if family == "searched":
        brief = f"{what} ({ids.count:,} call{'s' if ids.count > 1 else ''}{failed})"
    verb = "tried to write" if family == "wrote" and without == ids.count else family
    return stated("file" if family == "wrote" else "done", f"{verb} {brief}", ids, verb=verb, brief=brief)


def _delivered(tally: Tally) -> Iterator[Statement]:
    for kind in _first_of(tally, "delivery", FEW):
        brief = f"{kind.told.count:,} message{'s' if kind.told.count > 1 else ''} to {kind.shown}"
        yield stated("delivered", f"sent {brief}", kind.told, verb="sent", brief=brief)


def _cron(tally: Tally, hours: Hours) -> Iterator[Statement]:
    for kind in _first_of(tally, "cron", FEW):
        words = _cron_words(kind, hours)
        # A failure is told as trouble: a sentence need not say it again.
        yield stated("cron", words, kind.told, brief="" if kind.without == kind.told.count else words)


def _cron_words(kind: Kind, hours: Hours) -> str:
    event = kind.last
    when = f" {hours.at(kind.told.first_ms)}" if kind.told.count == 1 else ""
    said = event.summary.partition(": ")[2] if event is not None else ""
    tail = f" ({quoted(said, ERROR_CHARS)})" if said and not kind.without else ""
    return f"cron job {kind.shown} ran{when}{_how_often(kind)}{tail}"


def _subagents(tally: Tally, hours: Hours) -> Iterator[Statement]:
    for kind in _first_of(tally, "subagent", FEW):
        when = hours.at(kind.told.first_ms) if kind.told.count == 1 else ""
        brief = f"{kind.shown}{_how_often(kind)} {when}".strip()
        yield stated("subagent", f"set subagent {brief} to work", kind.told, brief=brief)


def _first_of(tally: Tally, family: str, most: int) -> Iterator[Kind]:
    """Yield the kinds that are told: the most frequent, in the order of time, then what is left, together."""
    kinds = [kind for kind in tally.kinds.get(family, {}).values() if kind.told.count]
    best = sorted(kinds, key=lambda k: (k.rest, -k.without, -k.told.count, k.told.first_ms, k.deed.key))
    yield from sorted(best[:most], key=lambda k: (k.told.first_ms, k.deed.key))
    if best[most:]:
        rest = best[most]
        for kind in best[most + 1 :]:
            rest.told.merge(kind.told)
            rest.without += kind.without
        rest.same, rest.deed, rest.last = True, rest.deed._replace(whole="others"), None
        yield rest


def _added(tally: Tally, hours: Hours) -> Iterator[Statement]:
    for event in reversed(tally.added):
        kind = "decided" if event.type in DECIDING else "added"
        words = f"{plain(event.type, 40)} {hours.at(event.at_ms)}: {quoted(event.summary, 200)}"
        yield stated_one(kind, words, event, brief=words)
    rest = tally.added_ids.count - len(tally.added)
    if rest > 0:
        ids = tally.added_ids
        words = f"{rest:,} earlier one{'s' if rest > 1 else ''} that were added"
        yield stated_rest("added", words, ids, {event.id for event in tally.added}, brief=words)


def _plain(tally: Tally, hours: Hours) -> Iterator[Statement]:
    for what, kind, words in (
        ("resets", "reset", "the session was reset"),
        ("compactions", "reset", "the prompt was shortened by a summary"),
        ("restarts", "restart", "the gateway started"),
        ("stops", "restart", "the gateway stopped"),
        ("jobs", "restart", "cron jobs were changed"),
    ):
        if what in tally.plain:
            said = f"{words} {_when(tally.times[what], tally.plain[what].count, hours)}"
            yield stated(kind, said, tally.plain[what], brief="" if what == "jobs" else said)
    if "heartbeat" in tally.plain:
        n = tally.counts["heartbeats"]
        words = f"{n:,} heartbeat{'s' if n != 1 else ''}"
        yield stated("heartbeat", words, tally.plain["heartbeat"], brief=words)


def _when(told: Sequence[int], count: int, hours: Hours) -> str:
    if count > 3:
        return f"{count:,} times"
    shown = [hours.at(at_ms) for at_ms in told]
    return " and ".join(shown) if len(shown) < 3 else f"{', '.join(shown[:-1])} and {shown[-1]}"
