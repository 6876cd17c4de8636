"""The rules of English about names: "in session s-1", "by agent night", "exec calls", "errors in exec"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.question import filters
from limpet.question.known import IDENTIFIER, KNOWN, is_free
from limpet.question.nearest import nearest
from limpet.question.refusal import as_filter, quote, refused
from limpet.question.sentence import Sentence, express, window_begins
from limpet.question.vocabulary import (
    CALLS,
    CLOSED,
    DETERMINERS,
    EFFECTS,
    FILTERS,
    JOINERS,
    KINDS,
    NAME_PREPOSITIONS,
    SINGULAR,
    TEXT_VERBS,
)

if TYPE_CHECKING:
    from limpet.question.scan import Token

TEXT = frozenset(TEXT_VERBS.split("|"))
NAMED = frozenset({"named", "called"})
MOST_WORDS = 6
"""The most words that a text or a list of names has without quotes."""

SLIP = 0.85
"""How like one of our words another must be to be taken for a slip of the pen, and not for a tool."""

OPEN = frozenset({"session", "agent", "tool", "label"})
"""Kinds that may be followed by any word that the grammar does not know; a run or a source must look like a name."""


def of_kind(sentence: Sentence) -> int:
    """Read "in session s-1", "by agent night", "tool exec and read", "with status failed"."""
    prepared = sentence.word() in NAME_PREPOSITIONS
    start = prepared + (sentence.word(prepared) == "the")
    said, size = sentence.phrase(KINDS, start)
    if not said:
        return 0
    kind = KINDS[said]
    if kind in CLOSED:
        return _of_words(sentence, kind, start + size)
    named = sentence.word(start + size) in NAMED
    bare = not start and said in KINDS.values() and not sentence.names.get(kind) and not _is_definite(sentence)
    sure = named or bare or (prepared and start == 1)
    return _of_names(sentence, kind, start + size + named, sure=sure)


def _is_definite(sentence: Sentence) -> bool:
    """Tell whether a word like "the" stands before: "the session crashed" names no session."""
    return sentence.at > 0 and sentence.words[sentence.at - 1] in DETERMINERS


def _of_words(sentence: Sentence, kind: str, start: int) -> int:
    """Read the value of a kind whose values are words of ours."""
    said, size = sentence.phrase(EFFECTS, start)
    effect = EFFECTS.get(said, "")
    if effect.startswith(f"{kind}:") and " " not in effect:
        express(sentence.draft, effect)
        return start + size
    word = sentence.word(start)
    if word not in filters.words_of(kind):
        return 0
    sentence.draft.add(((kind, (word,)),))
    return start + 1


def _of_names(sentence: Sentence, kind: str, start: int, *, sure: bool) -> int:
    """Read the names of a kind; where it is not `sure` that a name follows ("the agent fixed ..."), only real ones."""
    names, used = _names(sentence, kind, start)
    if not names or not (sure or _are_real(sentence, kind, start, used)):
        return 0
    sentence.draft.notes.extend(_remark(kind, name, sentence) for name in names)
    sentence.draft.add(((kind, tuple(names)),))
    return used


def _are_real(sentence: Sentence, kind: str, start: int, end: int) -> bool:
    """Tell whether the words are surely names: quoted, like no English word, or known to the store."""
    tokens = sentence.tokens[sentence.at + start : sentence.at + end]
    return all(
        token.kind == "quoted"
        or token.word in JOINERS
        or IDENTIFIER.fullmatch(token.text)
        or known_as(token, kind, sentence)
        for token in tokens
    )


def _remark(kind: str, name: str, sentence: Sentence) -> str:
    """Return what is to be said about a name: that nobody knows it, or that it was taken for one."""
    if sentence.names.get(kind) or IDENTIFIER.fullmatch(name):
        return filters.unheard_of(kind, name, sentence.names)
    return f"{quote(name)} is taken as the name of {'an' if kind == 'agent' else 'a'} {kind}."


def _names(sentence: Sentence, kind: str, start: int) -> tuple[list[str], int]:
    """Return the names that stand at a place, joined by "and", "or" or commas, and where they end."""
    names: list[str] = []
    used = at = start
    while len(names) < MOST_WORDS and (token := token_at(sentence, at)) and _canname_of(token, kind, sentence):
        if (names and kind != "tool" and sentence.phrase(CALLS, at + 1)[0]) or window_begins(sentence, at):
            break
        names.append(name_of(token, kind, sentence))
        used = at = at + 1
        at += sentence.word(at) == ","
        at += sentence.word(at) in JOINERS
        if at == used:
            break
    return names, used


def token_at(sentence: Sentence, ahead: int) -> Token | None:
    """Return the token so many places ahead, None past the end."""
    place = sentence.at + ahead
    return sentence.tokens[place] if place < len(sentence.tokens) else None


def _canname_of(token: Token, kind: str, sentence: Sentence) -> bool:
    if not is_free(token) and not (kind == "tool" and token.word in TEXT and not token.minus):
        return False
    return (
        token.kind == "quoted"
        or kind in OPEN
        or bool(IDENTIFIER.fullmatch(token.text))
        or known_as(token, kind, sentence) != ""
    )


def known_as(token: Token, kind: str, sentence: Sentence) -> str:
    """Return the name as the store knows it, "" if it does not."""
    known = sentence.names.get(kind, ())
    return next((name for name in (token.text, token.word) if name in known), "")


def name_of(token: Token, kind: str, sentence: Sentence) -> str:
    """Return the name as the store writes it, else as it was typed."""
    plain = token.text.removesuffix("'s") if token.kind == "word" else token.text
    return known_as(token, kind, sentence) or plain


def calls_of(sentence: Sentence) -> int:
    """Read "exec calls", "exec and read calls", "the exec tool"."""
    tools, used = _names(sentence, "tool", 0)
    if not tools or sentence.phrase(EFFECTS)[1] or not _all_tools(sentence, 0, used):
        return 0
    noun, size = sentence.phrase(CALLS, used)
    if not noun:
        return 0
    _tools(sentence, tools)
    if sentence.superlative and noun in SINGULAR:
        sentence.draft.set("take", "1")
    sentence.superlative = False
    return used + size


def _all_tools(sentence: Sentence, start: int, end: int) -> bool:
    tokens = sentence.tokens[sentence.at + start : sentence.at + end]
    return all(_may_be_tool(token, sentence) for token in tokens if token.word not in JOINERS)


def _may_be_tool(token: Token, sentence: Sentence) -> bool:
    """Tell whether a word can be a tool: known as one, or like a name; any word but a slip if none is known."""
    if token.kind == "quoted" or IDENTIFIER.fullmatch(token.text):
        return True
    if sentence.names.get("tool"):
        return bool(known_as(token, "tool", sentence))
    return token.word in TEXT or not nearest(token.word, KNOWN, SLIP)


def _tools(sentence: Sentence, tools: list[str]) -> None:
    sentence.draft.notes.extend(_remark("tool", tool, sentence) for tool in tools)
    sentence.draft.add((("type", ("tool_call",)), ("tool", tuple(tools))))


def calls_to(sentence: Sentence) -> int:
    """Read what follows "calls": "to exec", "of the exec tool"."""
    if sentence.word() not in ("to", "of", "for", "with") or sentence.draft.last != (("type", ("tool_call",)),):
        return 0
    start = 1 + (sentence.word(1) == "the")
    tools, used = _names(sentence, "tool", start)
    sure = sentence.word() == "to" or sentence.word(used) == "tool" or _are_real(sentence, "tool", start, used)
    if not tools or not sure or not _all_tools(sentence, start, used):
        return 0
    _tools(sentence, tools)
    return used + (sentence.word(used) == "tool")


def agent_named(sentence: Sentence) -> int:
    """Read "of the night agent"."""
    start = int(sentence.word() in NAME_PREPOSITIONS)
    start += sentence.word(start) == "the"
    token = token_at(sentence, start)
    if not token or not is_free(token) or sentence.word(start + 1) != "agent":
        return 0
    sure = _are_real(sentence, "agent", start, start + 1) or not sentence.names.get("agent")
    if not sure or nearest(token.word, KNOWN, SLIP):
        return 0
    sentence.draft.notes.append(_remark("agent", name_of(token, "agent", sentence), sentence))
    sentence.draft.add((("agent", (name_of(token, "agent", sentence),)),))
    return start + 2


def excepted(sentence: Sentence) -> int:
    """Read the tools of "tool calls except exec and read"."""
    if not sentence.draft.negator or ("type", False) not in sentence.draft.filters:
        return 0
    tools, used = _names(sentence, "tool", 0)
    if not tools or sentence.draft.filters["type", False] != ("tool_call",) or not _all_tools(sentence, 0, used):
        return 0
    sentence.draft.notes.extend(_remark("tool", tool, sentence) for tool in tools)
    sentence.draft.add((("tool", tuple(tools)),))
    return used


def known_name(sentence: Sentence) -> int:
    """Read a name that the store knows: "errors in exec", "desk errors"; and "using book_reservation"."""
    preposition = sentence.word() if sentence.word() in NAME_PREPOSITIONS else ""
    start = bool(preposition) + (bool(preposition) and sentence.word(1) == "the")
    token = token_at(sentence, start)
    if not token or not is_free(token) or token.kind == "quoted":
        return 0
    kinds = [kind for kind in sentence.names if kind in FILTERS and known_as(token, kind, sentence)]
    if not kinds and preposition == "using" and IDENTIFIER.fullmatch(token.text):
        kinds = ["tool"]
    if len(kinds) > 1:
        message = f"{quote(token.text)} is known as {' and as '.join(kinds)}."
        raise refused(message, "ambiguous_name", as_filter(kinds[0], [token.text]))
    if kinds:
        sentence.draft.add(((kinds[0], (name_of(token, kinds[0], sentence),)),))
        return start + 1
    return 0
