"""Whether one claim of a wording says only what one statement of the plan says. Pure; every doubt is a refusal.

Its numbers, names, paths, times and outcomes stand in the statement in the same order and without a gap, none of the
statement's outcomes is left out, and its other words stand there too or say nothing of their own (`lexicon`). Not for
where a claim begins and ends; see `checking`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet import text
from limpet.note import clause
from limpet.note.hours import MONTHS, WEEKDAYS
from limpet.note.lexicon import AGAINST, CONDITION, LINKING, MODAL, NOT, NOUNS, NUMBERS, ORDER, STATUS, stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.note.clause import Token
    from limpet.note.plan import Plan
    from limpet.note.statement import Statement

LONGEST_RUN = 160
"""Characters that a claim may copy from the plan in one piece."""

TELLING = ("failed", "stopped", "open", "trouble")
"""What a wording may not pass over, if it was in what the model was given."""

SAYING = frozenset((*STATUS, *NUMBERS, *LINKING, *ORDER, *NOT, *AGAINST, *CONDITION, *MODAL))
"""An agent with such a name is never named in a wording: there the word says something."""

_TIME = re.compile(r"\d{1,2}:\d\d")
_PASSIVE = re.compile(
    r"(?:\b(?:was|were|been|being) (?:(?:also|then|later|next|too) )?|^(?:and |then |later |also )*)asked\b"
)
_SENTENCE_END = re.compile(r"[.!?…]['’)]*\s")  # noqa: RUF001 - what people write


def fault(words: str, about: Statement, before: Statement | None, plan: Plan) -> str:
    """Return why these words may not stand for the statement, "" where they may; `before` was told before it."""
    words = words.strip().lstrip(".,;:!? ")
    if not any(char.isalnum() for char in words):
        return "a citation stands alone"
    if _SENTENCE_END.search(clause.outside(words).strip()):
        return "a sentence cites no event"
    return _words_fault(words, about, before, plan)


def _words_fault(words: str, about: Statement, before: Statement | None, plan: Plan) -> str:
    if len(words) > LONGEST_RUN and words.strip(" .") in told(about):
        return "it copies a long piece of the plan"
    said = clause.tokens(_without_names(words, plan))
    if not said:
        return "a sentence says nothing"
    meant = clause.tokens(told(about))
    if _is_turned_round(words, told(about)):
        return "it turns round who asked"
    return _hard_fault(said, meant, about) or _soft_fault(said, meant, about, before)


def _is_turned_round(words: str, meant: str) -> bool:
    """Whether it says that the agent asked where the agent was asked."""
    unquoted = clause.outside(words).casefold()
    asked = len(re.findall(r"\basked\b", unquoted))
    return meant.startswith("was asked") and asked > len(_PASSIVE.findall(unquoted))


def _hard_fault(said: Sequence[Token], meant: Sequence[Token], about: Statement) -> str:
    known = {token.text for token in meant if token.kind != "soft"}
    for token in said:
        if token.kind != "soft" and token.text not in known:
            return f"it says {text.one_line(token.said, 40)}, which the events that it cites do not"
    ours, theirs = _comparable(said, meant)
    row = [token.text for token in theirs]
    starts = [at for at in range(len(row) - len(ours) + 1) if row[at : at + len(ours)] == ours]
    if not starts:
        return "it puts numbers, names or outcomes together otherwise than the plan"
    outcomes = {at for at, token in enumerate(theirs) if token.kind == "status"}
    names = [at for at, token in enumerate(theirs) if token.said.startswith("`")] if must_be_told(about) else []
    if not any(outcomes | set(names[:1]) <= set(range(start, start + len(ours))) for start in starts):
        return "it leaves out how something went, or what"
    return ""


def _comparable(said: Sequence[Token], meant: Sequence[Token]) -> tuple[list[str], list[Token]]:
    """Return what has to stand in the same order: all but plain words, quotations passed over, and an only time."""
    ours = [token.text for token in said if token.kind != "soft"]
    hard = [token for token in meant if token.kind != "soft"]
    theirs = [token for token in hard if not token.said.startswith("“") or token.text in ours]
    times = [token.text for token in theirs if _TIME.fullmatch(token.text)]
    if len(times) == 1 and ours.count(times[0]) < 2:
        return [one for one in ours if one != times[0]], [token for token in theirs if token.text != times[0]]
    return ours, theirs


def _soft_fault(said: Sequence[Token], meant: Sequence[Token], about: Statement, before: Statement | None) -> str:
    known = {token.text for token in meant if token.kind == "soft"} | {stem(word) for word in NOUNS.get(about.kind, ())}
    wish, last = _wish(meant), ""
    group: list[str] = []
    for token in said:
        strange = token.kind == "soft" and token.text not in known and token.said.casefold() not in ORDER
        group = [*group, token.text] if strange else []
        if strange and not (last == "asked" and _holds(wish, group)):
            return f"it says {text.one_line(token.said, 40)}, which the events that it cites do not"
        last = token.text if token.kind == "status" and token.text != "owner" else last
    places = _after(meant)
    late = _after(said) - places
    moved = places and late - {""}
    if moved or (late and (before is None or about.first_ms < before.first_ms)):
        return "it tells things in another order than they happened"
    return ""


def _after(row: Sequence[Token]) -> frozenset[str]:
    """Return after what a line says `later` or the like: the name, number or outcome before it, "" for none."""
    found, last = set(), ""
    for token in row:
        if token.said.casefold() in ORDER:
            found.add(last)
        elif token.kind != "soft" and not _TIME.fullmatch(token.text) and not token.said.startswith("“"):
            last = token.text
    return frozenset(found)


def _wish(meant: Sequence[Token]) -> tuple[str, ...]:
    """Return the words of what somebody asked for: of all that is quoted only that may be told without its marks."""
    after = [token for at, token in enumerate(meant) if any(one.text == "asked" for one in meant[:at])]
    quotes = [token.said for token in after if token.said.startswith("“")]
    return clause.parts(quotes[0]) if quotes else ()


def _holds(row: Sequence[str], group: Sequence[str]) -> bool:
    return any(tuple(row[at : at + len(group)]) == tuple(group) for at in range(len(row) - len(group) + 1))


def _without_names(words: str, plan: Plan) -> str:
    """Take out the plan's own day and agent, which any claim about that one day may name; in a quotation all stays."""
    for name in _names(plan):
        pattern = re.compile(rf"{clause.SPAN.pattern}|(?<![\w./-]){re.escape(name)}(?![\w/-])")
        words = pattern.sub(lambda found: found[0] if found[0][0] in '`“"' else " ", words)
    return words


def _names(plan: Plan) -> Iterator[str]:
    agent = plan.agent.casefold()
    if len(agent) > 2 and agent.isalpha() and agent not in SAYING:
        yield plan.agent
    if plan.first == plan.last:
        name, month = WEEKDAYS[plan.first.weekday()], MONTHS[plan.first.month - 1]
        number, year = plan.first.day, plan.first.year
        yield from (plan.first.isoformat(), f"{name}, {number} {month} {year}", f"{number} {month} {year}")
        yield from (f"{month} {number}, {year}", name)


def must_be_told(one: Statement) -> bool:
    """Whether a wording that was given this statement may not leave it out."""
    return one.kind in TELLING


def told(one: Statement) -> str:
    """Return the statement as a clause of which the agent is the subject, or that has one of its own."""
    return one.words if not one.verb or one.words.startswith(one.verb) else f"{one.verb} {one.words}"


def fails(one: Statement) -> bool:
    """Whether it tells of a failure."""
    return any(token.kind == "status" and token.text == "failed" for token in clause.tokens(told(one)))
