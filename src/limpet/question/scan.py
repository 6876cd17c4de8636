"""From the text of a question to its tokens: words, quoted phrases, `name:value` filters, commas. Knows no meanings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from limpet.question.refusal import refused
from limpet.question.vocabulary import FILTER_NAMES

LONGEST = 4_000
"""Characters; a longer text is no question."""

QUOTED = r'"(?:[^"]|"")*"?'
VALUE = rf'(?:{QUOTED}|[^\s",]+)'
TOKEN = re.compile(
    rf"(?P<minus>-?)(?P<name>[A-Za-z_]+):(?!:|//|\\)(?P<values>{VALUE}(?:,{VALUE})*)"
    rf"|(?P<not>-?)(?:(?P<quoted>{QUOTED})|(?<!\S)'(?P<single>[^']*)'(?![^\s,?!.;]))"
    r"|(?P<comma>,)"
    r'|(?P<word>[^\s",]+)'
)
ONE_VALUE = re.compile(VALUE)
CLEANED = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029), " "),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02"), '"'),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
"""Control characters are spaces, any double quote is one, half a surrogate pair is what it can only be shown as."""

FOLDED = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2013\u2014\u2212"), "-"),
}
"""Apostrophes and dashes as keyboards have them: for the grammar's words, not for text that is looked for."""

WAITING = re.compile(r"(-?)([A-Za-z_]+):")

NAMING_KEYS = frozenset({"session", "sessions"})
"""Words before a session's key, which looks like a filter: `agent:main:main`."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `kind` is word, quoted, filter or comma; `text` as typed, `word` lower-case without punctuation.

    `minus` says that a `-` stands before it. A filter has its `name` and `values`, each with whether it was quoted.
    """

    kind: str
    text: str
    word: str = ""
    minus: bool = False
    name: str = ""
    values: tuple[tuple[str, bool], ...] = ()


def scan(question: str) -> tuple[Token, ...]:
    """Return the tokens of a question; raises NotUnderstood for one too long, or with an empty phrase or filter."""
    if len(question) > LONGEST:
        length = f"{len(question):,} characters, at most {LONGEST:,} are read"
        raise refused(f"The question is too long: {length}.", "question_too_long")
    cleaned = question.translate(CLEANED)
    return tuple(_joined([token for match in TOKEN.finditer(cleaned) if (token := _token(match))]))


def _token(match: re.Match[str]) -> Token | None:
    if match["name"]:
        return _filter(match["minus"] == "-", match["name"].lower(), match["values"], match[0])
    if match["quoted"] or match["single"] is not None:
        return _phrase(match["single"] or _value(match["quoted"] or '"')[0], minus=match["not"] == "-")
    return Token("comma", ",", ",") if match["comma"] else _word(match["word"])


def _filter(minus: bool, name: str, values: str, text: str) -> Token:
    parts = [_value(part) for part in ONE_VALUE.findall(values)]
    last, quoted = parts[-1]
    parts[-1] = (last if quoted else last.rstrip("?!;"), quoted)
    if not all(value for value, _ in parts):
        raise empty_filter(name)
    return Token("filter", text, minus=minus, name=name, values=tuple(parts))


def _value(part: str) -> tuple[str, bool]:
    """Return what was said and whether it was quoted; a quote that is never closed ends with the question."""
    if not part.startswith('"'):
        return part, False
    body = part[1:-1] if part.count('"') % 2 == 0 else part[1:]
    return " ".join(body.replace('""', '"').split()), True


def empty_filter(name: str) -> Exception:
    """Return the refusal of a filter without a value."""
    return refused(f"{name}: stands without a value.", "empty_filter")


def _phrase(said: str, *, minus: bool) -> Token:
    spaced = " ".join(said.split())
    if not spaced:
        raise refused("There is nothing between the quotes.", "empty_phrase")
    return Token("quoted", spaced, minus=minus)


def _word(text: str) -> Token | None:
    waiting = WAITING.fullmatch(text)
    trimmed = text if waiting and waiting[2].lower() in FILTER_NAMES else text.rstrip("?!;.:")
    if not trimmed:
        return Token("word", text, text) if ":" in text else None
    minus = trimmed.startswith("-") and not trimmed.startswith("--") and trimmed != "-"
    plain = trimmed[1:] if minus else trimmed
    word = plain.lower().translate(FOLDED).strip("()[]{}'") or plain
    return Token("word", plain, word.removesuffix("'s"), minus=minus)


def _joined(tokens: list[Token]) -> list[Token]:
    """Give `status: failed` the value that stands after the space, and let a session have its key."""
    joined: list[Token] = []
    for token in tokens:
        waiting = _waiting(joined[-1]) if joined else None
        if waiting and token.kind in ("word", "quoted") and not token.minus:
            before = joined.pop()
            text, value = f"{before.text}{token.text}", (token.text, token.kind == "quoted")
            joined.append(Token("filter", text, minus=before.minus, name=waiting, values=(value,)))
        elif joined and joined[-1].word in NAMING_KEYS and (key := _key(token)):
            joined.append(Token("word", key, key.lower()))
        else:
            joined.append(token)
    for token in joined:
        if name := _waiting(token):
            raise empty_filter(name)
    return joined


def _key(token: Token) -> str:
    """Return the session's key that "session agent:main:main" names, "" for any other filter."""
    if token.kind != "filter" or token.name != "agent" or token.minus or len(token.values) > 1:
        return ""
    value, quoted = token.values[0]
    return f"agent:{value}" if ":" in value and not quoted else ""


def _waiting(token: Token) -> str:
    match = WAITING.fullmatch(token.text) if token.kind == "word" else None
    return match[2].lower() if match and match[2].lower() in FILTER_NAMES else ""
