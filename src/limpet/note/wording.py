"""How a plan reads without any model: a paragraph for people, a short list with event ids, both bounded. Pure."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from limpet.deeds.quoting import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.note.plan import Counts, Plan, Statement

MOST_BYTES = 16_384
"""No note's body is longer, whatever the day was like."""

MOST_WORDS_BYTES = 4_096
"""Nor is its paragraph."""

IN_A_ROW = 5
"""So many things of one verb, or of one kind, are named in the paragraph; the list below it has the others."""

IDS_SHOWN = 8
FAILED_IDS_SHOWN = 120
"""So many ids of failed calls are shown in all, at least IDS_SHOWN of each statement."""

TITLES = {
    "asked": "Asked",
    "done": "Done",
    "file": "Files",
    "failed": "Failed",
    "stopped": "Stopped",
    "open": "Open",
    "trouble": "Trouble",
    "delivered": "Channels",
    "cron": "Cron",
    "subagent": "Subagents",
    "decided": "Decided",
    "added": "Added",
    "reset": "Session",
    "restart": "Gateway",
    "heartbeat": "Heartbeats",
}
LEFT_OUT = (
    "done", "file", "asked", "delivered", "subagent", "cron", "reset", "added", "open", "trouble", "stopped",
    "decided", "restart", "heartbeat", "", "failed",
)  # fmt: skip
"""Of which kinds lines are left out, in this order, when there is no room: those of failures last ("": not seen)."""

TOLD = ("stopped", "open", "trouble", "delivered", "cron", "subagent", "decided", "added", "reset", "restart")
KEPT = frozenset({"opening", "failed", "unseen"})
"""Which sentences stay, however long the paragraph gets."""

UNSEEN = 3
"""So many spans that were not seen are named in the paragraph."""


def paragraph(plan: Plan) -> str:
    """Return the note's paragraph: one line of Markdown, at most MOST_WORDS_BYTES of UTF-8."""
    said = [(kind, f"{sentence[:1].upper()}{sentence[1:]}.") for kind, sentence in _sentences(plan)]
    while len(" ".join(sentence for _, sentence in said).encode()) > MOST_WORDS_BYTES:
        lesser = [number for number, (kind, _) in enumerate(said) if kind not in KEPT]
        if not lesser:
            break
        del said[max(lesser, key=lambda number: len(said[number][1]))]
    return " ".join(sentence for _, sentence in said)


def around(plan: Plan, words: str) -> str:
    """Return a paragraph whose middle is `words`; its opening with the totals, and what was not seen, stay our own."""
    unseen = f"N{_unseen(plan)[1:]}." if plan.uncovered else ""
    return " ".join(part for part in (f"{_opening(plan)}.", words, unseen) if part)


def listing(plan: Plan) -> Sequence[str]:
    """Return the list below the paragraph, one Markdown item a line, each with its event ids (`[4096, 8192]`)."""
    lines = [_span_line(plan)] if plan.began_ms is not None else []
    failed = sum(one.kind == "failed" for one in plan.statements)
    most = max(IDS_SHOWN, FAILED_IDS_SHOWN // max(failed, 1))
    lines += [_line(one, most if one.kind == "failed" else IDS_SHOWN) for one in plan.statements]
    return [*lines, *(f"- **Not seen** {line}" for line in plan.uncovered)]


def body(plan: Plan, words: str = "") -> str:
    """Return the note's body, at most MOST_BYTES long in UTF-8, ending in a line end; `words` replaces the paragraph.

    It holds a heading of level 2, the paragraph, the list, and a line that says how to open an event. Where the list
    is too long, whole lines are left out, those of failures last, and how many is said.
    """
    head = f"## {_title(plan)}\n\n{words or paragraph(plan)}\n\n"
    tail = "\nThe numbers are events: `limpet show NUMBER` opens one.\n"
    room = MOST_BYTES - len((head + tail).encode())
    return head + "".join(f"{line}\n" for line in _fitting(plan, room)) + tail


def nothing(plan: Plan) -> str:
    """Return the body of a note whose events were all forgotten, or turned out to be another day's."""
    return f"## {_title(plan)}\n\nLimpet knows nothing of this day any more.\n"


def _fitting(plan: Plan, room: int) -> Sequence[str]:
    """Return the list's lines, without as many as it takes to fit into that many bytes."""
    kinds = [*([""] if plan.began_ms is not None else []), *(one.kind for one in plan.statements)]
    lines = list(listing(plan))
    kinds += [""] * (len(lines) - len(kinds))
    gone = 0
    room -= 120
    while lines and sum(len(line.encode()) + 1 for line in lines) > room:
        chosen = next(kind for kind in LEFT_OUT if kind in kinds)
        number = len(kinds) - 1 - kinds[::-1].index(chosen)
        del kinds[number], lines[number]
        gone += 1
    if gone:
        lines.append(f"- **Left out** {gone:,} lines for which there was no room; `limpet note --json` has them all")
    return lines


def _title(plan: Plan) -> str:
    days = f"{plan.first}" if plan.first == plan.last else f"{plan.first} to {plan.last}"
    return f"What {plain(plan.agent, 60)} did, {days}"


def _span_line(plan: Plan) -> str:
    hours = plan.hours
    began, ended = hours.full(plan.began_ms or 0), hours.full(plan.ended_ms or 0)
    return f"- **Time** {began}{f' to {ended}' if ended != began else ''} ({plan.zone})"


def _line(one: Statement, most: int) -> str:
    return f"- **{TITLES[one.kind]}** {one.words} {_ids(one, most)}"


def _ids(one: Statement, most: int) -> str:
    """Return the ids in brackets; where not all are shown, the first ones, the last one, and how many there are."""
    shown = [*one.events]
    if len(shown) > most:
        shown = [*shown[: most - 1], shown[-1]]
    told = ", ".join(map(str, (*shown, *(n for n in one.also if n not in shown))))
    return f"[{told}]" if one.count <= len(shown) or one.kind == "heartbeat" else f"[{told}; {one.count:,} in all]"


def _sentences(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the paragraph's sentences, each with what it is about, without their full stops and capitals."""
    by_kind = {kind: list(group) for kind, group in groupby(plan.statements, key=attrgetter("kind"))}
    yield "opening", _opening(plan)
    if asked := by_kind.get("asked"):
        yield "asked", f"it was asked {_row(asked)}"
    if deeds := [*by_kind.get("done", ()), *by_kind.get("file", ())]:
        yield "done", f"it {_deeds(deeds)}"
    if failed := by_kind.get("failed"):
        yield "failed", _went_wrong(plan.counts, failed)
    for kind in TOLD:
        if found := [one for one in by_kind.get(kind, ()) if one.brief]:
            yield kind, _sentence(kind, found)
    if plan.uncovered:
        yield "unseen", _unseen(plan)


def _sentence(kind: str, found: Sequence[Statement]) -> str:
    if kind == "delivered":
        return f"it sent {_row(found)}"
    return _subagents(found) if kind == "subagent" else _clauses(found)


def _unseen(plan: Plan) -> str:
    rest = len(plan.uncovered) - UNSEEN
    more = [f"{rest:,} more"] if rest > 0 else []
    return f"not everything was seen: {'; '.join([*plan.uncovered[:UNSEEN], *more])}"


def _opening(plan: Plan) -> str:
    counts, hours = plan.counts, plan.hours
    name = plain(plan.agent, 60)
    when = f"{hours.span()} (times of {hours.zoned()})"
    beats = f"{counts.heartbeats:,} heartbeat{'s' if counts.heartbeats != 1 else ''}" if counts.heartbeats else ""
    if plan.began_ms is None:
        return f"{when}, {name} had {f'{beats} and nothing else' if beats else 'no event that is known'}"
    parts = [
        f"{n:,} {word if n == 1 else word + 's'}"
        for n, word in ((counts.sessions, "session"), (counts.runs, "run"), (counts.calls, "tool call"))
        if n
    ]
    parts += [beats] if beats else []
    began, ended = hours.time(plan.began_ms), hours.time(plan.ended_ms or 0)
    span = f"from {began} to {ended}" if began != ended else hours.at(plan.began_ms)
    return f"{when}, {name} was at work {span}{f', with {_and(parts)}' if parts else ''}"


def _went_wrong(counts: Counts, failed: Sequence[Statement]) -> str:
    of = f"{counts.failed:,} of {counts.calls:,} tool calls failed"
    if counts.calls == 1:
        of = "its only tool call failed"
    return f"{of}: {_row(failed)}; {_made_good(counts)}"


def _made_good(counts: Counts) -> str:
    if counts.failed == 1:
        return "a later one of its kind succeeded" if counts.recovered else "none of its kind succeeded afterwards"
    if not counts.recovered:
        return "none of them was followed by a success of its kind by midnight"
    if counts.recovered == counts.failed:
        return "each was followed by a success of its kind"
    return (
        f"{counts.recovered:,} of them {'was' if counts.recovered == 1 else 'were'} followed by a success of that kind"
    )


def _subagents(found: Sequence[Statement]) -> str:
    n = sum(one.count for one in found)
    return f"it set {'a subagent' if n == 1 else f'{n:,} subagents'} to work: {_row(found)}"


def _deeds(deeds: Sequence[Statement]) -> str:
    """Return what was done: each verb once, its objects in a row."""
    rows = [f"{verb} {_row(list(group), 'call')}" for verb, group in groupby(deeds, key=attrgetter("verb"))]
    return "; ".join(rows)


def _row(ones: Sequence[Statement], unit: str = "") -> str:
    """Return things in a row, the first few of them, and of how many events the others tell."""
    return _and([one.brief for one in ones[:IN_A_ROW]] + _more(ones[IN_A_ROW:], unit))


def _clauses(ones: Sequence[Statement]) -> str:
    return "; ".join([one.brief for one in ones[:IN_A_ROW]] + _more(ones[IN_A_ROW:]))


def _more(others: Sequence[Statement], unit: str = "") -> list[str]:
    n = sum(one.count for one in others)
    return [f"{n:,} more{f' {unit}' if unit else ''}{'s' if unit and n > 1 else ''}"] if n else []


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
