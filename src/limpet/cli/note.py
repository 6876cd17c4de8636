"""`limpet note`: writes the daily notes that are due, or shows what one would say; weeks and months on request."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from limpet import clock, days
from limpet.cli import output
from limpet.cli.ask import now_of
from limpet.errors import BadInput, NotFound, Unavailable
from limpet.memory import Memory
from limpet.note import asjson, hours, wording

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.note.nightly import Nightly, Outcome
    from limpet.note.plan import Plan

EXAMPLE = "limpet note --date 2026-10-25 --dry-run"


def note(args: argparse.Namespace) -> int:
    """Write what is due, or one day, or all days since one; or show a day, a week or a month."""
    with Memory.open(args.db, args.tz) as memory:
        zone = memory.settings.zone
        now_ms = now_of(args, zone)
        yesterday = days.day_of(now_ms, zone) - timedelta(days=1)
        day = _day(args.date, yesterday, zone) if args.date is not None else None
        first = _since(args.since, yesterday, zone) if args.since is not None else None
        if first is not None and (args.week or args.month):
            raise BadInput(
                "--since goes with no --week or --month: name a day in it by --date.", f"For example {EXAMPLE}"
            )
        if not memory.exists():
            raise Unavailable(f"There is no memory at {memory.settings.db} yet.", "limpet setup openclaw")
        nightly = memory.notes()
        if args.agent:
            _check_agent(memory, args.agent)
        if args.week or args.month or args.dry_run:
            spans = (
                [_span(args, day or yesterday)] if first is None else [(one, one) for one in _days(first, yesterday)]
            )
            plans = (plan for span in spans for plan in _plans(nightly, *span, args.agent))
            return _show(plans, machine=args.json)
        if first is not None:
            return _told(_history(nightly, first, yesterday, args.agent, now_ms), args)
        if day is not None or args.agent:
            chosen = day or yesterday
            return _told(_written(nightly, chosen, args.agent, now_ms), args)
        return _told(nightly.look(now_ms), args)


def _day(said: str, yesterday: date, zone: str) -> date:
    """Return the local day that was named: an ISO date, `yesterday` or `today`. Raises BadInput."""
    today = yesterday + timedelta(days=1)
    named = {"yesterday": yesterday, "today": today}.get(said.lower())
    try:
        day = named or date.fromisoformat(said)
    except ValueError:
        raise BadInput(f"--date {said!r} is no day.", f"For example {EXAMPLE}") from None
    if day > today:
        raise BadInput(f"{day} is still to come: there is nothing to tell of it.", f"For example {EXAMPLE}")
    _check_known(day, zone)
    return day


def _since(said: str, yesterday: date, zone: str) -> date:
    try:
        day = date.fromisoformat(said)
    except ValueError:
        raise BadInput(f"--since {said!r} is no day.", "For example limpet note --since 2026-10-01") from None
    if day > yesterday:
        raise BadInput(f"No day since {day} is over yet.", "limpet note --date today  writes a note of what there is.")
    _check_known(day, zone)
    return day


def _check_known(day: date, zone: str) -> None:
    earliest = days.day_of(days.EARLIEST_MS, zone)
    if day < earliest:
        raise BadInput(f"{day} is too long ago: no event is older than {earliest}.", f"For example {EXAMPLE}")


def _days(first: date, last: date) -> Iterator[date]:
    return (first + timedelta(days=number) for number in range((last - first).days + 1))


def _span(args: argparse.Namespace, day: date) -> tuple[date, date]:
    """Return the days that are told: the week or the month that holds the day, or the day itself."""
    return hours.week_of(day) if args.week else hours.month_of(day) if args.month else (day, day)


def _check_agent(memory: Memory, agent: str) -> None:
    known = memory.note_agents()
    if agent not in known:
        shown = ", ".join(sorted(known)[:8])
        raise NotFound(f"No event names an agent {agent!r}, and none is configured.", f"There are: {shown}")


def _plans(nightly: Nightly, first: date, last: date, agent: str) -> Iterator[Plan]:
    for name in [agent] if agent else nightly.agents(first, last):
        plan = nightly.plan(name, first, last)
        if not plan.is_empty:
            yield plan


def _show(plans: Iterator[Plan], *, machine: bool) -> int:
    """Write what notes would say, as Limpet itself words them: no model is asked for what is only looked at."""
    if machine:
        output.as_json({"notes": [asjson.of(plan) for plan in plans]})
        return 0
    shown = 0
    for plan in plans:
        output.data(("\n" if shown else "") + wording.body(plan).rstrip("\n"))
        shown += 1
    if not shown:
        output.say("nothing happened then: there is nothing to tell")
    return 0


def _written(nightly: Nightly, day: date, agent: str, now_ms: int) -> Sequence[Outcome]:
    return [nightly.write(name, day, now_ms) for name in ([agent] if agent else nightly.agents(day, day))]


def _history(nightly: Nightly, first: date, last: date, agent: str, now_ms: int) -> Iterator[Outcome]:
    """Write the notes of every day, oldest first, and show how far it is."""
    progress = output.Progress("notes")
    told_s = clock.monotonic_s()
    for number, day in enumerate(_days(first, last)):
        yield from _written(nightly, day, agent, now_ms)
        progress(f"{day} ({number + 1:,} of {(last - first).days + 1:,} days)")
        if clock.monotonic_s() - told_s > 60:
            output.say(f"notes: {number + 1:,} of {(last - first).days + 1:,} days, now at {day}")
            told_s = clock.monotonic_s()
    progress.end()


def _told(outcomes: Sequence[Outcome] | Iterator[Outcome], args: argparse.Namespace) -> int:
    """Tell what became of each note; exit status 4 where one could not be written."""
    done = list(outcomes)
    failed = [one for one in done if one.result == "failed"]
    if args.json:
        output.as_json({"notes": [_outcome_json(one) for one in done]})
    else:
        _tell(done)
    return Unavailable.exit_status if failed else 0


def _tell(done: Sequence[Outcome]) -> None:
    for one in done:
        if one.result in ("written", "unchanged"):
            output.data(f"{one.day}  {one.agent:<10} {one.result}  {one.path}")
        elif one.result == "failed":
            output.say(f"{one.day}  {one.agent:<10} not written: {one.why}")
        if one.warning:
            output.say(f"{one.day}  {one.agent:<10} {one.warning}")
    if not any(one.result != "empty" for one in done):
        output.say("no note is due" if not done else "nothing happened then: no note was made")


def _outcome_json(one: Outcome) -> Mapping[str, Any]:
    return {
        "agent": one.agent,
        "day": one.day.isoformat(),
        "path": str(one.path) if one.path else None,
        "result": one.result,
        "why": one.why or None,
        "warning": one.warning or None,
    }
