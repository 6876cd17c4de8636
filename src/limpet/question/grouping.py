"""The rules of English about how many and which: "last 5", "per day", "which tools", "how many sessions"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.question import filters
from limpet.question.dates import count_of
from limpet.question.vocabulary import COUNTING, EACH, EFFECTS, GROUPING, GROUPS, SUPERLATIVES, WHICH

if TYPE_CHECKING:
    from limpet.question.sentence import Sentence

COUNTERS = frozenset(COUNTING.split("|"))
GROUPERS = frozenset(GROUPING.split("|"))

MOST = frozenset({"top", "most used", "most active", "most often used", "most frequently used", "most frequent"})
EARLY = "'first thing' names no time: all of the window is meant."
MOST_FIRST = "The numbers of the groups tell which has most."


def first_few(sentence: Sentence) -> int:
    """Read "last 5", "slowest", "the 3 most recent", "top 10 slowest"."""
    if sentence.word() == "first" and sentence.word(1) == "thing" and sentence.word(-1) != "the":
        sentence.draft.notes.append(EARLY)
        return 2
    top = 1 if sentence.word() == "top" else 0
    before = count_of(sentence.word(top))
    start = top + (before is not None)
    said, size = sentence.phrase(SUPERLATIVES, start)
    if not said:
        return 0 if before is None or top else _some(sentence, before)
    after = count_of(sentence.word(start + size)) if before is None and not top else None
    count = before if before is not None else after
    sentence.draft.set("sort", SUPERLATIVES[said])
    sentence.superlative = count is None
    if count is not None:
        sentence.draft.set("take", filters.setting("take", str(count)))
    return start + size + (after is not None)


def _some(sentence: Sentence, count: int) -> int:
    """Read the number of "show me 5 errors": how many are shown."""
    said, _ = sentence.phrase(EFFECTS, 1)
    if EFFECTS.get(said, "") in ("", "*"):
        return 0
    sentence.draft.set("limit", filters.setting("limit", str(count)))
    return 1


def grouping(sentence: Sentence) -> int:
    """Read "per day", "by tool"."""
    said, size = sentence.phrase(GROUPERS)
    if not size:
        return 0
    definite = sentence.word(size) == "the"
    group, length = sentence.phrase(GROUPS, size + definite)
    if not group or sentence.phrase(EFFECTS, size + definite)[1] > length:
        return 0
    if said == "by" and definite and GROUPS[group] == "agent":  # "tool calls by the agent" names who made them
        return 0
    size += definite
    sentence.draft.set("by", GROUPS[group])
    return size + length


def which(sentence: Sentence) -> int:
    """Read "which tools", "what day", and the "most" of "which tool failed most"."""
    said = sentence.word()
    if said == "most" and "by" in sentence.draft.settings and not sentence.draft.negator:
        sentence.draft.notes.append(MOST_FIRST)
        return 1 + (sentence.word(1) == "often")
    group, size = sentence.phrase(WHICH, 1) if said in ("which", "what") else ("", 0)
    if said == "what" and group == "agent" and sentence.word(2) in sentence.names.get("agent", ()):
        return 0  # "what agent press did" asks for what one agent did
    if not group or sentence.phrase(EFFECTS, 1)[1] > size:
        return 0
    return 1 + _each(sentence, WHICH[group], "by")


def most(sentence: Sentence) -> int:
    """Read "most used tools", "top agents": the groups, of which the first has most."""
    _, size = sentence.phrase(MOST)
    if not size or sentence.word(size) not in EACH:
        return 0
    sentence.draft.notes.append(MOST_FIRST)
    return size


def counting(sentence: Sentence) -> int:
    """Read "how many", after which "sessions" counts different sessions."""
    said, size = sentence.phrase(COUNTERS)
    if sentence.draft.negator:
        return 0
    sentence.counting = sentence.counting or bool(said)
    return size


def each(sentence: Sentence) -> int:
    """Read "sessions", "agents", "tools": which ones, or how many."""
    kind = EACH.get(sentence.word())
    if not kind:
        return 0
    counted = sentence.counting and not any(name == "type" for name, _ in sentence.draft.filters)
    return _each(sentence, kind, "count" if counted else "by")


def _each(sentence: Sentence, kind: str, setting: str) -> int:
    sentence.draft.set(setting, kind)
    sentence.of_tools = sentence.of_tools or kind == "tool"
    return 1 + (kind == "tool" and sentence.word(1) == "run")  # "which tools run": no run of an agent
