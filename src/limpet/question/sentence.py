"""The English face of a question: reads its words from left to right, each by the first rule that knows it.

What no rule knows is kept in `unknown`, and the question is then refused. More rules are in `grouping`, `naming` and
`texts`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from limpet.question import filters
from limpet.question.dates import MONTHS, WEEKDAYS
from limpet.question.refusal import quote, refused
from limpet.question.vocabulary import (
    EFFECTS,
    FILLER,
    FILTERS,
    JOINERS,
    NEGATORS,
    SINGULAR,
)
from limpet.question.windows import MOST_WORDS, read_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from limpet.question.draft import Draft, Element
    from limpet.question.filters import Names
    from limpet.question.moments import Now
    from limpet.question.scan import Token

LONGEST_PHRASE = 5
ENOUGH = 20
"""After so many words that are not understood the rest is not looked at."""

FILLERS = frozenset(FILLER.split("|"))
DENIALS = frozenset(NEGATORS.split("|"))
REPEATED = frozenset({"every", "any", "some", "a", "an"})
"""Fillers before a noun that do not leave a weekday or month as it is."""

BETWEEN_DENIED = frozenset({"the", "any", "a", "an", "all"})
"""Fillers that may stand between "except" and what is excepted."""


@dataclass(slots=True)
class Sentence:
    """The words of a question, how far they are read, and what they have said."""

    tokens: Sequence[Token]
    draft: Draft
    now: Now
    names: Names
    at: int = 0
    words: tuple[str, ...] = ()
    unknown: list[int] = field(default_factory=list)
    counting: bool = False
    superlative: bool = False
    of_tools: bool = False
    of_all: bool = False
    deeds: bool = False
    implied: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = tuple(t.word if t.kind in ("word", "comma") and not t.minus else "" for t in self.tokens)

    @property
    def begun(self) -> bool:
        """Whether anything but time was asked for so far."""
        draft = self.draft
        said = draft.filters or draft.words or draft.without or draft.settings or draft.negator
        return bool(said or self.counting or self.of_all or self.unknown or self.implied)

    def phrase(self, table: Collection[str], start: int = 0) -> tuple[str, int]:
        """Return the longest phrase of the table that stands here, and how many words it has; ("", 0) for none."""
        begin = self.at + start
        for size in range(min(LONGEST_PHRASE, len(self.words) - begin), 0, -1):
            said = " ".join(self.words[begin : begin + size])
            if said in table:
                return said, size
        return "", 0

    def word(self, ahead: int = 0) -> str:
        """Return the word so many places ahead (or behind), "" where there is none."""
        place = self.at + ahead
        return self.words[place] if 0 <= place < len(self.words) else ""

    def kind(self, ahead: int) -> str:
        """Return the kind of the token so many places ahead, "" where there is none."""
        place = self.at + ahead
        return self.tokens[place].kind if place < len(self.tokens) else ""


def window_begins(sentence: Sentence, ahead: int) -> bool:
    """Tell whether something is said about time so many places ahead."""
    begin = sentence.at + ahead
    return read_bounds(sentence.words[begin : begin + MOST_WORDS], sentence.now) is not None


def read(sentence: Sentence, rules: Sequence[Callable[[Sentence], int]]) -> None:
    """Read all words, each by the first rule that takes it; those that none takes are in `unknown` afterwards.

    A rule reads what stands at `at` and returns how many words that were, 0 where it knows nothing of it.
    """
    while sentence.at < len(sentence.tokens) and len(sentence.unknown) < ENOUGH:
        tied = sentence.draft.joint if sentence.draft.joint != "," else ""
        tied = tied or sentence.draft.negator
        place, elements = sentence.at, len(sentence.draft.bounds) + len(sentence.draft.settings)
        used = next((used for rule in rules if (used := rule(sentence))), 0)
        if not used:
            sentence.unknown.append(sentence.at)
            sentence.draft.joint = sentence.draft.negator = ""
        if tied and len(sentence.draft.bounds) + len(sentence.draft.settings) != elements:
            sentence.unknown.append(place - 1)
        sentence.at += used or 1
    if sentence.draft.negator or sentence.draft.joint in ("and", "or"):
        sentence.unknown.append(len(sentence.tokens) - 1)


def filter_or_phrase(sentence: Sentence) -> int:
    """Read `name:value`, "a phrase", -"a phrase" and -word; after an unknown word `-rf` is an option of it."""
    token = sentence.tokens[sentence.at]
    if token.minus and token.kind == "word" and sentence.unknown[-1:] == [sentence.at - 1]:
        return 0
    if token.kind == "filter":
        filters.apply(sentence.draft, token, sentence.now, sentence.names)
        return 1
    if token.kind == "quoted" or token.minus:
        sentence.draft.look_for(token.text, without=token.minus)
        return 1
    return 0


def joiner(sentence: Sentence) -> int:
    """Read "and", "or" and commas, which tie what follows to what came before."""
    joint = JOINERS.get(sentence.word())
    if not joint or (joint != "," and not sentence.draft.last):
        return 0
    if sentence.draft.joint in ("", ","):
        sentence.draft.joint = joint
        return 1
    return 0


def negator(sentence: Sentence) -> int:
    """Read "except", "not" and the like, which deny the next filter."""
    said, size = sentence.phrase(DENIALS)
    if sentence.word() == "without" and _can_lack(sentence):
        said, size = "without", 1
    if not said or sentence.draft.negator:
        return 0
    sentence.draft.negator = said
    return size + (sentence.word(size) in BETWEEN_DENIED)


def _can_lack(sentence: Sentence) -> bool:
    """Tell whether "without" denies what follows of each event; a session "without errors" is another question."""
    effect = EFFECTS.get(sentence.phrase(EFFECTS, 1)[0], "")
    return sentence.kind(1) == "quoted" or (
        ("type", False) in sentence.draft.filters and effect.startswith(("is:", "status:"))
    )


def window(sentence: Sentence) -> int:
    """Read whatever is said about time."""
    found = read_bounds(sentence.words[sentence.at : sentence.at + MOST_WORDS], sentence.now)
    if not found or sentence.draft.negator:
        return 0
    sentence.draft.bound(found[0])
    sentence.superlative = False
    return found[1]


def meaning(sentence: Sentence) -> int:
    """Read the phrases that stand for themselves: "failed", "tool calls", "show me"."""
    said, size = sentence.phrase(EFFECTS)
    effect = EFFECTS.get(said, "")
    _is_one_window(said, sentence.word(size))
    if not size or (not effect and said not in FILLERS):
        return 0
    if sentence.draft.negator and effect in ("", "*"):
        return 0
    express(sentence.draft, effect)
    sentence.of_all = sentence.of_all or effect == "*"
    if sentence.superlative and said in SINGULAR:
        sentence.draft.set("take", "1")
    if said in SINGULAR or (effect and not effect.startswith("status")):
        sentence.superlative = False
    return size


def _is_one_window(said: str, follower: str) -> None:
    """Refuse "every monday", which is no single one: a question has one window."""
    if said in REPEATED and (follower in WEEKDAYS or follower in MONTHS or follower == "weekend"):
        message = f"{f'{said} {follower}'!r} can be many windows; a question has one."
        raise refused(message, "contradiction", f"errors last {follower}")


def express(draft: Draft, effect: str) -> None:
    """Take what a phrase means into the draft; it is written in filter form."""
    if effect in ("", "*"):
        draft.asks = draft.asks or effect == "*"
        return
    for part in effect.split():
        name, _, value = part.partition(":")
        if name.startswith("-"):
            draft.add(((name[1:], tuple(value.split(","))),), negated=True)
        elif name not in FILTERS:
            draft.set(name, value)
    if element := _element(effect):
        draft.add(element)


def _element(effect: str) -> Element:
    pairs = (part.split(":", 1) for part in effect.split())
    return tuple((name, tuple(value.split(","))) for name, value in pairs if name in FILTERS)


def in_words(tokens: Sequence[Token]) -> str:
    """Return the tokens as typed."""
    return " ".join(_as_typed(token) for token in tokens)


def _as_typed(token: Token) -> str:
    text = quote(token.text) if token.kind == "quoted" else token.text
    return f"-{text}" if token.minus and token.kind != "filter" else text
