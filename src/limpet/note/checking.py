"""Whether a model's wording says only what the plan says. Pure; every doubt is a refusal, for there is always a text.

A text is a row of claims, each ended by the ids of the events it rests on: `The deploy failed twice [4096, 8192].`
A claim rests on one statement of the plan. Its numbers, names, paths, times and outcomes stand there in the same
order and without a gap, none of the statement's outcomes is left out, and its other words stand there too or say
nothing of their own (`lexicon`). Not for asking a model; see `drafting`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet import text
from limpet.note import clause
from limpet.note.hours import MONTHS, WEEKDAYS
from limpet.note.lexicon import LINKING, NOUNS, NUMBERS, ORDER, STATUS, stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.note.clause import Token
    from limpet.note.plan import Plan
    from limpet.note.statement import Statement

MOST_CHARS = 2000
LONGEST_RUN = 160
"""Characters that a claim may copy from the plan in one piece."""

TELLING = ("failed", "stopped", "open", "trouble")
"""What a wording may not pass over, if it was in what the model was given."""

_CITATION = re.compile(r"\[([0-9]{1,18}(?:, ?[0-9]{1,18})*)\]")
_NOT_TEXT = re.compile(r"[`\[\]<>#|~\\{}$=^*_@\"“”]|!\[|://|www\.|mailto:|javascript:")
_BLOCK = re.compile(r"(?m)^\s{0,3}(?:[-+*>#|=]|\d+[.)]\s|```|~~~)|^ {4}|\n\s*\n")
_TIME = re.compile(r"\d{1,2}:\d\d")
_PASSIVE = re.compile(
    r"(?:\b(?:was|were|been|being) (?:(?:also|then|later|next|too) )?|^(?:and |then |later |also )*)asked\b"
)
_SENTENCE_END = re.compile(r"[.!?…]['’)]*\s")  # noqa: RUF001 - what people write
_ORDERS = re.compile(
    r"\b(?:you|your|yours|i|i'm|me|my|we|our|please|ignore|disregard|forget|remember|always|assistant|system prompt|"
    r"instructions?|from now on|as an ai|do not|don't)\b",
    re.IGNORECASE,
)


def fault(said: str, plan: Plan) -> str:
    """Return why this text may not stand for the plan, in a few words; "" where it may.

    `plan` holds the statements that the model was given, and no others.
    """
    return _shape_fault(said) or _claims_fault(restored(said, plan), plan)


def restored(said: str, plan: Plan) -> str:
    """Return the text on one line, each quotation as the plan writes it: models bend quotation marks, drop escapes."""
    known = {_bare(found[0]): found[0] for one in plan.statements for found in clause.SPAN.finditer(told(one))}
    return clause.SPAN.sub(lambda found: known.get(_bare(found[0]), found[0]), " ".join(said.split()))


def _bare(span: str) -> str:
    return span.replace("\\", "").strip('`“”" ')


def _shape_fault(said: str) -> str:
    if not said.strip():
        return "it is empty"
    if len(said) > MOST_CHARS:
        return f"it is longer than {MOST_CHARS:,} characters"
    if text.clean(said) != said:
        return "it has control or hidden characters"
    if _BLOCK.search(said.strip()):
        return "it is more than one paragraph of plain text"
    if _CITATION.search(clause.outside(said)) is None:
        return "it cites no event"
    return _markup_fault(clause.outside(said))


def _markup_fault(unquoted: str) -> str:
    plain = _CITATION.sub(" ", unquoted)
    if found := _NOT_TEXT.search(plain):
        return f"it has markup or a link: {found[0]}"
    if found := _ORDERS.search(plain):
        return f"it speaks to its reader: {found[0]}"
    return ""


def _claims_fault(said: str, plan: Plan) -> str:
    before: Statement | None = None
    done: list[Statement] = []
    failures: set[int] = set()
    heard: set[str] = set()
    copied = 0
    for words, ids in _claims(said):
        if ids is None:
            return "a sentence cites no event" if _letters(words) else _left_out(done, failures, plan, copied)
        candidates = [one for one in plan.statements if set(ids) <= {*one.events, *one.also}]
        if not candidates:
            return _id_fault(ids, plan)
        faults = [_claim_fault(words, one, before, plan) for one in candidates]
        if "" not in faults:
            return faults[0]
        before = candidates[faults.index("")]
        copied += words.strip(" .,;").casefold() in (before.words.casefold(), told(before).casefold())
        if (here := words.strip(" .,;:").casefold()) in heard:
            return "it repeats itself"
        heard.add(here)
        done.append(before)
        failures |= set(ids) if _fails(before) else set()
    raise AssertionError("the last claim has no citation")


def _claims(said: str) -> Iterator[tuple[str, tuple[int, ...] | None]]:
    """Yield each claim with the ids that it cites; what stands after the last citation comes with None."""
    spans = [found.span() for found in clause.SPAN.finditer(said)]
    words, ids, at = "", [0] * 0, 0
    for found in _CITATION.finditer(said):
        if any(start <= found.start() < end for start, end in spans):
            continue
        between = said[at : found.start()]
        if ids and between.strip():
            yield words, tuple(ids)
            words, ids = "", []
        words += between
        ids += [int(number) for number in found[1].split(",")]
        at = found.end()
    yield words, tuple(ids)
    yield said[at:], None


def _letters(words: str) -> bool:
    return any(char.isalnum() for char in words)


def _id_fault(ids: Sequence[int], plan: Plan) -> str:
    known = {number for one in plan.statements for number in (*one.events, *one.also)}
    strange = [number for number in ids if number not in known]
    if strange:
        return f"it cites event {strange[0]}, which is not in the plan"
    return f"one claim cites events that do not belong together: {', '.join(map(str, ids[:4]))}"


def _claim_fault(words: str, about: Statement, before: Statement | None, plan: Plan) -> str:
    words = words.strip().lstrip(".,;:!? ")
    if not _letters(words):
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
    late = any(token.said.casefold() in ORDER and token.text not in known for token in said)
    if late and (before is None or about.first_ms < before.first_ms):
        return "it tells things in another order than they happened"
    return ""


def _wish(meant: Sequence[Token]) -> tuple[str, ...]:
    """Return the words of what somebody asked for: of all that is quoted only that may be told without its marks."""
    after = [token for at, token in enumerate(meant) if any(one.text == "asked" for one in meant[:at])]
    quotes = [token.said for token in after if token.said.startswith("“")]
    return clause.parts(quotes[0]) if quotes else ()


def _holds(row: Sequence[str], group: Sequence[str]) -> bool:
    return any(tuple(row[at : at + len(group)]) == tuple(group) for at in range(len(row) - len(group) + 1))


def _without_names(words: str, plan: Plan) -> str:
    """Take out the plan's own day and agent, which any claim about that one day may name."""
    for name in _names(plan):
        words = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", " ", words)
    return words


def _names(plan: Plan) -> Iterator[str]:
    agent = plan.agent.casefold()
    if len(agent) > 2 and agent.isalpha() and agent not in STATUS and agent not in NUMBERS and agent not in LINKING:
        yield plan.agent
    if plan.first == plan.last:
        name, month = WEEKDAYS[plan.first.weekday()], MONTHS[plan.first.month - 1]
        number, year = plan.first.day, plan.first.year
        yield from (plan.first.isoformat(), f"{name}, {number} {month} {year}", f"{number} {month} {year}")
        yield from (f"{month} {number}, {year}", name)


def _left_out(done: Sequence[Statement], failures: set[int], plan: Plan, copied: int) -> str:
    """Return which statement is missing; a failure may also be told with the other calls of its kind."""
    if 3 < copied == len(done):
        return "it copies the plan"
    for one in plan.statements:
        if one not in done and must_be_told(one) and not failures & set(one.events[:1]):
            return f"it leaves out what went wrong: {', '.join(map(str, one.events[:4]))}"
    return ""


def _fails(one: Statement) -> bool:
    return any(token.kind == "status" and token.text == "failed" for token in clause.tokens(told(one)))


def must_be_told(one: Statement) -> bool:
    """Whether a wording that was given this statement may not leave it out."""
    return one.kind in TELLING


def told(one: Statement) -> str:
    """Return the statement as a clause of which the agent is the subject, or that has one of its own."""
    return one.words if not one.verb or one.words.startswith(one.verb) else f"{one.verb} {one.words}"
