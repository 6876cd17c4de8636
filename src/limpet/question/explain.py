"""Why a question was not understood: the part, the nearest thing that would be, and a question that works."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from limpet.question.known import KNOWN, SPELLINGS
from limpet.question.nearest import nearest
from limpet.question.refusal import EXAMPLE, quote, refused, short
from limpet.question.sentence import in_words
from limpet.question.vocabulary import (
    COMMANDS,
    DETERMINERS,
    EFFECTS,
    LANGUAGES,
    NAME_PREPOSITIONS,
    NEGATORS,
    SCRIPTS,
    bars,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from limpet.errors import NotUnderstood
    from limpet.question.filters import Names
    from limpet.question.scan import Token

MOST_TOKENS = 60
"""Of longer questions no better version is looked for."""

MOST_PARTS = 5
DENYING = frozenset({"without", "no", "none", "never", "nobody", "nothing", "neither", "nor", *bars(NEGATORS)})
IDLE = frozenset(
    {*COMMANDS, *NAME_PREPOSITIONS, *DETERMINERS, *bars("why|because|very|also|again|too|then|but|so|now|how|who")}
)
"""Words that a suggestion may leave out: what it asks for is still what was asked."""

WHOLES = frozenset({"all", "every", "of"})
WHOLE = "Limpet counts what matched, not whether that was all."
HINTS: Mapping[str, str] = {
    **dict.fromkeys(("session", "conversation", "chat", "chats"), "sessions today"),
    **dict.fromkeys(bars("long|longer|take|takes|took|duration|durations|average|slow"), "slowest tool calls today"),
    **dict.fromkeys(("new", "news", "up"), "what happened today"),
    **dict.fromkeys(("ok", "okay", "fine", "well", "healthy"), "errors today"),
    **dict.fromkeys(("command", "commands"), "exec calls today"),
    **dict.fromkeys(("all", "every"), "failed tool calls yesterday"),
    **dict.fromkeys(("who", "whom"), "messages by actor today"),
    **dict.fromkeys(("most", "least", "often"), "tool calls by tool today"),
    **dict.fromkeys(("around", "about"), "what happened between 2 and 4 am"),
}
"""For words that people use and the grammar does not know, the nearest question that would be understood."""

READ_ONLY = "Questions only ask; they never change anything."
REASONS = "Limpet answers what, when and how many, not why."


def not_understood(
    tokens: Sequence[Token], unknown: Sequence[int], names: Names, understood: Callable[[str], str]
) -> NotUnderstood:
    """Return the refusal that names the unknown tokens; `understood` tells how a question would be, "" for not."""
    places = sorted(set(unknown))
    parts = [quote(short(part)) for part in _runs(tokens, places)]
    more = " and more" if len(parts) > MOST_PARTS else ""
    message = f"Not understood: {', '.join(parts[:MOST_PARTS])}{more}."
    words = {tokens[place].word for place in places}
    advice = READ_ONLY if words & COMMANDS else REASONS if words & {"why", "because"} else ""
    if words & WHOLES and not words - WHOLES:
        advice = WHOLE
    for suggestion, said in _suggestions(tokens, places, names, understood):
        if understood(suggestion):
            return refused(message, "not_understood", suggestion, f"{advice} {said}".strip())
    advice = advice if words <= KNOWN else f"{advice} To look for a text, put it in quotes.".strip()
    return refused(message, "not_understood", EXAMPLE, advice)


def _runs(tokens: Sequence[Token], places: Sequence[int]) -> list[str]:
    """Return the unknown tokens as typed, those that stand side by side together."""
    runs: list[list[Token]] = []
    for before, place in pairwise((-2, *places)):
        if place == before + 1 and runs:
            runs[-1].append(tokens[place])
        else:
            runs.append([tokens[place]])
    return [in_words(run) for run in runs]


def _suggestions(
    tokens: Sequence[Token], places: Sequence[int], names: Names, understood: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Yield questions that may work, best first, each with what to say before it."""
    if len(tokens) > MOST_TOKENS:
        return
    spellings = (*SPELLINGS, *(name for kind in names for name in list(names[kind])[:500]))
    near = {place: _near(tokens[place].word, spellings) for place in places[:MOST_PARTS]}
    if len(near) == len(places) and all(near.values()):
        meant = " ".join(near.get(place) or in_words([token]) for place, token in enumerate(tokens))
        said = " and ".join(quote(word) for place, word in near.items() if word != tokens[place].word)
        yield meant, f"Did you mean {said}?"
    words = [tokens[place].word for place in places]
    yield from ((hint, "") for word, hint in HINTS.items() if word in words)
    if any(token.word in DENYING for token in tokens):
        return  # what is left without such a word asks for the opposite
    if all(word in IDLE for word in words):
        yield in_words([token for place, token in enumerate(tokens) if place not in places]), ""
    if all(word in IDLE or word not in KNOWN for word in words):
        said, brief = _quoted(tokens, places), _quoted(tokens, places, briefly=True)
        same = understood(brief) and understood(said) in ("", understood(brief))
        yield (brief if same else said), "To look for a text, put it in quotes."


def _near(word: str, spellings: Sequence[str]) -> str:
    return word if word in KNOWN else nearest(word, spellings)


def _quoted(tokens: Sequence[Token], places: Sequence[int], *, briefly: bool = False) -> str:
    """Return the question with its unknown words in quotes, and without those that are no text: "why", "delete".

    `briefly`: without the fillers, too.
    """
    kept: list[str] = []
    text: list[Token] = []
    for place, token in enumerate((*tokens, None)):
        if token and place in places:
            if token.word not in IDLE:
                text.append(token)
            continue
        if text:
            kept.append(quote(in_words(text)))
            text = []
        if token and not (briefly and token.kind == "word" and EFFECTS.get(token.word) == ""):
            kept.append(in_words([token]))
    return " ".join(kept)


def language_of(tokens: Sequence[Token]) -> str:
    """Return the language other than English that a question of bare words seems to be asked in, or ""."""
    words = {token.word for token in tokens if token.kind == "word"}
    if len(words) > 1:
        for language, table in LANGUAGES.items():
            if words & set(table.split("|")):
                return language
    for language, table in SCRIPTS.items():
        if any(
            mark in token.text and mark != token.text
            for token in tokens
            if token.kind == "word"
            for mark in table.split("|")
        ):
            return language
    return ""
