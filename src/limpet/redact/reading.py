"""Where the value after a name begins and ends in running text. Not for judging it."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from limpet.redact.values import scheme_length

OF_SEVERAL_WORDS = ("seed phrase", "passphrase")
"""Kinds whose values reach to the end of a line."""

_QUOTES = (b'"', b"'", b"`")
_QUOTE_OF = {"double": '"', "single": "'", "tick": "`", "bare": ""}
_VALUE = re.compile(
    rb"(?:[fbruFBRU]{1,2}(?=[\"']))?"
    rb"(?:\"(?:\"\")?(?P<double>(?:[^\"\\\n]++|\\.)*+)|'(?:'')?(?P<single>(?:[^'\\\n]++|\\.)*+)|`(?P<tick>[^`\n]*+)"
    rb"|(?P<bare>(?:[^\s\"'`,;&<>|\\]|\\[^nrt\"'\\\s])++))"
)
_WORD = re.compile(rb"(?P<bare>(?:[^\s\\]|\\[^nrt\"'\\\s])++)")
_PAIRS = re.compile(rb"(?P<bare>[^\s=;\"'\\]++=[^\s;\"'\\]*+(?:;[ \t]*[^\s=;\"',\\]++(?:=[^\s;\"',\\]*+)?)*+)")
_LINE = re.compile(rb"(?P<bare>[^\"'`\n\\]++)")
_ELEMENT = re.compile(rb"(?P<bare>[^<\n]++)")


class Value(NamedTuple):
    """A span of a text, and the quote that stood before it: `"`, `'`, a backtick, or none."""

    start: int
    end: int
    quote: str


def read_value(text: bytes, lead: tuple[int, int], name: str, kind: str, most: int = sys.maxsize) -> Value | None:
    """Return the value that begins where the lead ends, or None if none stands there.

    At most `most` bytes are read. The scheme before a credential (`Bearer `) is no part of the value, nor is the
    punctuation after a bare one.
    """
    end = lead[1]
    reader = _reader(text, lead, name, kind)
    limit = min(len(text), end + most)
    found = reader.match(text, end, limit) or _VALUE.match(text, end, limit)
    group = found.lastgroup if found else None
    if found is None or group is None:
        return None
    start, stop = found.span(group)
    quote = _QUOTE_OF[group]
    start += scheme_length(text[start : start + 40].decode("utf-8", "replace"))
    if not quote:
        start, stop = _without_scheme(text, start, stop)
        stop = start + len(text[start:stop].rstrip(b";,.:)]}"))
    return Value(start, stop, quote) if start < stop else None


def _reader(text: bytes, lead: tuple[int, int], name: str, kind: str) -> re.Pattern[bytes]:
    """Choose how far a value reaches: to the end of a word, a line, an element, or of the pairs of a cookie."""
    start, end = lead
    if text[end - 1 : end] == b">":
        return _ELEMENT
    if text[end : end + 1] in _QUOTES:
        return _VALUE
    if kind == "cookie":
        return _PAIRS
    if kind in OF_SEVERAL_WORDS and (b":" in text[start:end] or b"=" in text[start:end]):
        return _LINE
    alone = text[start - 1 : start] in (b"\n", b" ", b"\t") or start == 0
    return _WORD if alone and name.isupper() and text[end - 1 : end] == b"=" else _VALUE


def _without_scheme(text: bytes, start: int, stop: int) -> tuple[int, int]:
    """Move on to the second word where the first is a scheme, as in `Authorization: Bearer abc`."""
    if start < stop:
        scheme = scheme_length(text[start : stop + 2].decode("utf-8", "replace"))
        if not scheme:
            return start, stop
        start += scheme
    found = _VALUE.match(text, start)
    return found.span("bare") if found and found.lastgroup == "bare" else (start, start)
