"""The rules of English about texts that are looked for: "containing x", "about x", "did the backup run"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet.question.known import is_free
from limpet.question.naming import MOST_WORDS, TEXT, known_as, name_of, token_at
from limpet.question.refusal import quote
from limpet.question.sentence import express, in_words, window_begins
from limpet.question.vocabulary import ASKING, DETERMINERS, EFFECTS, ENDING, SUPERLATIVES, VERBS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from limpet.question.draft import Draft
    from limpet.question.scan import Token
    from limpet.question.sentence import Sentence

MARK = re.compile(r"^(?:\^|-(?!-))+(?=.*\w)|(?<=\w)\*+$")
"""Signs that steer other searches, on a word without quotes: `^flaky`, `flaky*`, `-restart` (field case F49)."""


def look_for_bare(draft: Draft, tokens: Sequence[Token], *, alone: bool) -> None:
    """Take in words without quotes that stand side by side; `alone` that the question is nothing else.

    A command with options (`rm -rf`) is one text. A word with `-` before all others is denied, but not where it stands
    alone: that is a text, too.
    """
    rest = list(tokens)
    while rest and rest[0].minus and not alone:
        draft.look_for(rest.pop(0).text, without=True)
    look_for_texts(draft, rest)


def look_for_texts(draft: Draft, tokens: Sequence[Token]) -> None:
    """Take in words that are looked for, each by itself, or all as one text where one of them is an option."""
    if not tokens:
        return
    has_option = len(tokens) > 1 and any(token.minus or token.text.startswith("--") for token in tokens)
    found = [in_words(tokens)] if has_option else [MARK.sub("", in_words([token])) for token in tokens]
    negator = draft.negator
    for text in found:
        draft.negator = negator
        draft.look_for(text)
    note = f"Taken as a search for the text {' and '.join(map(quote, found))}."
    dashed = next((token.text for token in tokens if token.minus), "")
    draft.notes.append(note + (f" To leave a text out: -{quote(dashed)}." if dashed else ""))


def with_something(sentence: Sentence) -> int:
    """Read "with" before what has a meaning of its own: "sessions with errors", "messages with "a phrase""."""
    word, effect = sentence.word(), EFFECTS.get(sentence.phrase(EFFECTS, 1)[0], "")
    if word in ("with", "having", "for") and sentence.kind(1) == "quoted":
        return 1
    if word == "search" and effect.startswith("type:"):
        return 1
    return int(word in ("with", "having") and not sentence.draft.negator and effect not in ("", "*"))


def text_after(sentence: Sentence) -> int:
    """Read "containing", "about" and the like, with the text: quoted, or words that mean nothing else here."""
    said, size = sentence.phrase(TEXT)
    if not said:
        return 0
    size += sentence.word(size) == "the" and not said.startswith("with")
    token = token_at(sentence, size)
    if token and token.kind == "quoted":
        sentence.draft.look_for(token.text)
        return size + 1
    count = _free_words(sentence, size)
    follower, _ = sentence.phrase(EFFECTS, size + count)
    if not count or EFFECTS.get(follower, "") not in ("", "*"):
        return 0
    look_for_texts(sentence.draft, _tokens(sentence, size, count))
    return size + count


def _free_words(sentence: Sentence, start: int, until: Collection[str] = ()) -> int:
    """Return how many words of text stand there, up to one that `until` holds."""
    count = 0
    while count < MOST_WORDS and (token := token_at(sentence, start + count)) and _is_text(token, count):
        if window_begins(sentence, start + count) or (count and sentence.phrase(until, start + count)[1]):
            break
        count += 1
    return count


def _is_text(token: Token, before: int) -> bool:
    """Tell whether a word is text: one that the grammar does not know, or after such a one an option of it."""
    return is_free(token) or (token.kind == "word" and token.minus and before > 0)


def _tokens(sentence: Sentence, start: int, count: int) -> Sequence[Token]:
    return sentence.tokens[sentence.at + start : sentence.at + start + count]


def did_something(sentence: Sentence) -> int:
    """Read "did the backup (last) run": a search for the text, unless it names a tool or an agent."""
    if sentence.word() not in ASKING or sentence.draft.negator:
        return 0
    start = 1 + (sentence.word(1) in DETERMINERS)
    count = _free_words(sentence, start, VERBS)
    which = (
        SUPERLATIVES.get(sentence.word(start + count), "") if sentence.word(start + count) in ("last", "first") else ""
    )
    verb, size = sentence.phrase(VERBS, start + count + bool(which))
    if not count or not verb:
        return 0
    kind = _kind_of(sentence, start, count, verb)
    if kind:
        sentence.draft.add(((kind, (name_of(sentence.tokens[sentence.at + start], kind, sentence),)),))
    else:
        look_for_texts(sentence.draft, _tokens(sentence, start, count))
        if verb in ENDING:
            sentence.draft.notes.append("How each ended stands beside it.")
    express(sentence.draft, VERBS[verb])
    if which:
        express(sentence.draft, f"sort:{which} take:1")
        size += 1
    return start + count + size


def _kind_of(sentence: Sentence, start: int, count: int, verb: str) -> str:
    """Return what a single word before the verb names: a tool, an agent, or "" for a text."""
    token = sentence.tokens[sentence.at + start]
    if count > 1 or token.kind == "quoted":
        return ""
    known = next((kind for kind in ("tool", "agent", "session") if known_as(token, kind, sentence)), "")
    return known or ("tool" if VERBS[verb].startswith("type:tool_call") else "")
