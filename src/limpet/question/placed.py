"""The rules of English about words that mean nothing in one place and much in another: "find", "sent", "done", "all".

"Find errors" only asks for errors; "what did the agent find" would be half understood, and is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.question.sentence import express
from limpet.question.vocabulary import (
    ASKING,
    CLOSING,
    DEEDS,
    DETERMINERS,
    DONE,
    EACH,
    EFFECTS,
    FILLER,
    IMPLYING,
    OPENING,
    bars,
)

if TYPE_CHECKING:
    from limpet.question.draft import Draft
    from limpet.question.sentence import Sentence

OPENINGS = frozenset(bars(OPENING))
CLOSINGS = frozenset(bars(CLOSING))
PLACED = (OPENINGS | CLOSINGS) - frozenset(bars(FILLER))
"""Phrases that mean nothing only at the beginning or the end; no other rule may pass over them."""

WHOLES = frozenset({"all", "all of", "all of the", "every"})
DISTINCT = frozenset({"different", "distinct", "unique"})
PASSIVE = frozenset({"was", "were", "been", "got"})
RECENT = frozenset({"recent", "recently", "most recently"})


def opening(sentence: Sentence) -> int:
    """Read "show me" and the like before anything is asked for, and "please" at the end."""
    said, size = sentence.phrase(OPENINGS | CLOSINGS)
    if said in OPENINGS and not sentence.begun and sentence.word(-1) not in ASKING | DETERMINERS:
        return size
    return size if said in CLOSINGS and sentence.at + size == len(sentence.words) else 0


def whole(sentence: Sentence) -> int:
    """Leave the "all" of "did all calls succeed" unread: no count of what matched answers that."""
    if sentence.words[0] in ASKING and sentence.phrase(WHOLES)[0]:
        sentence.unknown.append(sentence.at)
        return sentence.phrase(WHOLES)[1]
    return 0


def distinct(sentence: Sentence) -> int:
    """Read the "different" of "how many different tools"; different errors are not told from others."""
    return int(sentence.word() in DISTINCT and sentence.word(1) in EACH)


def implied(sentence: Sentence) -> int:
    """Read "sent", "used", "ran" and the like; what they ask for is known when all is read."""
    said, size = sentence.phrase(IMPLYING)
    if not said or sentence.draft.negator:
        return 0
    sentence.implied.append((sentence.at, said))
    return size


def deeds(sentence: Sentence) -> int:
    """Read the "do" of "what did the agent do", the "did" of "what the agent did", and "what was done"."""
    if _ends_with_did(sentence):
        sentence.deeds = True
        return 1
    if sentence.word() not in DEEDS or sentence.draft.negator:
        return 0
    filters = sentence.draft.filters
    named = ("agent", False) in filters or filters.get(("actor", False)) == ("agent",)
    if not named and (sentence.word() != "done" or sentence.word(-1) not in PASSIVE):
        return 0
    sentence.deeds = True
    return 1


def _ends_with_did(sentence: Sentence) -> bool:
    """Tell whether this is the "did" right behind who did it: "everything the agent did yesterday"."""
    last = sentence.draft.last
    who = last == (("actor", ("agent",)),) or [name for name, _ in last] == ["agent"]
    return sentence.word() == "did" and who and not sentence.draft.negator and sentence.phrase(EFFECTS)[1] == 1


def finish(sentence: Sentence) -> None:
    """Give the words whose meaning hangs on the others their meaning, now that all is read."""
    draft = sentence.draft
    draft.joint = draft.negator = ""
    if sentence.of_tools and not _types(draft):
        express(draft, "type:tool_call")
    for place, said in sentence.implied:
        if not _imply(draft, said):
            sentence.unknown.append(place)
    if sentence.deeds and not _types(draft) and ("is", False) not in draft.filters:
        if draft.filters.get(("actor", False)) == ("agent",):
            del draft.filters["actor", False]
        express(draft, "is:deed")
    if (
        sentence.words[0] == "when"
        and "sort" in draft.settings
        and not _types(draft)
        and ("is", False) not in draft.filters
    ):
        draft.settings.setdefault("take", "1")  # "when did the agent last fail"
    if RECENT & set(sentence.words) and not draft.bounds:
        draft.notes.append("'recent' names no time: newest first, however old.")


def _imply(draft: Draft, said: str) -> bool:
    """Take what the word asks for into the draft; False where it goes with nothing that was said."""
    if said == "active":
        return _activity(draft)
    fitting, alone = IMPLYING[said]
    named = _types(draft)
    if not named:
        express(draft, alone)
        return bool(alone) or (not fitting and ("is", False) in draft.filters)
    return not fitting or named <= set(fitting)


def _activity(draft: Draft) -> bool:
    """Active sessions have events, active runs have no end yet."""
    if {draft.settings.get("by"), draft.settings.get("count")} & set(EACH.values()):
        return True
    if not _types(draft) or not _types(draft) <= {*DONE, "model_call"}:
        return False
    express(draft, "status:started")
    return True


def _types(draft: Draft) -> set[str]:
    return set(draft.filters.get(("type", False), ()))
