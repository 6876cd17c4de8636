"""Whether a model's wording says only what the plan says. Pure; every doubt is a refusal, for there is always a text.

A text is a row of claims, each ended by the ids of the events it rests on: `The deploy failed twice [4096, 8192].`
A claim rests on one statement of the plan (`claim`), and what went wrong is told. Not for asking; see `drafting`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet import text
from limpet.note import claim, clause

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.note.plan import Plan
    from limpet.note.statement import Statement

MOST_CHARS = 2000
_CITATION = re.compile(r"\[([0-9]{1,18}(?:, ?[0-9]{1,18})*)\]")
_NOT_TEXT = re.compile(r"[`\[\]<>#|~\\{}$=^*_@\"“”]|!\[|://|www\.|mailto:|javascript:")
_BLOCK = re.compile(r"(?m)^\s{0,3}(?:[-+*>#|=]|\d+[.)]\s|```|~~~)|^ {4}|\n\s*\n")
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
    known = {_bare(found[0]): found[0] for one in plan.statements for found in clause.SPAN.finditer(claim.told(one))}
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
        faults = [claim.fault(words, one, before, plan) for one in candidates]
        if "" not in faults:
            return faults[0]
        before = candidates[faults.index("")]
        copied += words.strip(" .,;").casefold() in (before.words.casefold(), claim.told(before).casefold())
        if (here := words.strip(" .,;:").casefold()) in heard:
            return "it repeats itself"
        heard.add(here)
        done.append(before)
        failures |= set(ids) if claim.fails(before) else set()
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


def _left_out(done: Sequence[Statement], failures: set[int], plan: Plan, copied: int) -> str:
    """Return which statement is missing; a failure may also be told with the other calls of its kind."""
    if 3 < copied == len(done):
        return "it copies the plan"
    for one in plan.statements:
        if one not in done and claim.must_be_told(one) and not failures & set(one.events[:1]):
            return f"it leaves out what went wrong: {', '.join(map(str, one.events[:4]))}"
    return ""
