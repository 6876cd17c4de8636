"""A text as it reads after undoing one layer of escapes after the other, each with the way back to the first offsets.

So a secret is found in JSON printed into a string, in a URL, in HTML, between colour codes; and masked where it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

import re2

MAX_LAYERS = 5
"""How many layers of escapes are undone; JSON in a string in a string in a string has three."""

_LONG = (
    rb"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n)"
    rb"|%[0-9a-fA-F]{2}"
    rb"|&(?:quot|amp|lt|gt|apos|#[0-9]{1,3}|#[xX][0-9a-fA-F]{1,2});"
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x00+"
    rb"|\xe2\x80[\x8b-\x8d]"  # zero-width characters hide in the middle of words
)
_LONG_ESCAPE = re.compile(_LONG)
_LONG_ESCAPE_SOONER = re2.compile(
    r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n)|%[0-9a-fA-F]{2}"
    r"|&(?:quot|amp|lt|gt|apos|#[0-9]{1,3}|#[xX][0-9a-fA-F]{1,2});|\x1b\[[0-?]*[ -/]*[@-~]|\x00|[\x{200b}-\x{200d}]"
)
"""The same for RE2, which finds out sooner that there is none."""

_ESCAPE = re.compile(rb"\\[\"'\\/bfnrtv]|" + _LONG)
_SHORT = {
    b'\\"': b'"', b"\\'": b"'", b"\\\\": b"\\", b"\\/": b"/", b"\\b": b"\b", b"\\f": b"\f", b"\\n": b"\n",
    b"\\r": b"\r", b"\\t": b"\t", b"\\v": b"\v", b"&quot;": b'"', b"&amp;": b"&", b"&lt;": b"<", b"&gt;": b">",
    b"&apos;": b"'",
}  # fmt: skip
_SHORT_BACKSLASHES = tuple((said, sign) for said, sign in _SHORT.items() if said[:1] == b"\\" and said != b"\\\\")
_PAIR = b"\xff"
"""Stands for an escaped backslash while the other escapes are undone; no byte of UTF-8."""


class Layer:
    """A text and, for each escape undone in it, where it stood and how long it was before and after."""

    def __init__(self, text: bytes, below: Layer | None = None) -> None:
        """Take the text as it reads in this layer, and the layer that it was made from.

        `undone` has an entry for each escape: where it stands here and below, how long it is here and below.
        """
        self.text = text
        self.below = below
        self.depth: int = below.depth + 1 if below else 0
        self.undone: list[tuple[int, int, int, int]] = []

    def next(self) -> Layer:
        """Return this text with one more layer of escapes undone, the same text if there is none."""
        above = Layer(b"", self)
        parts, done, size = [], 0, 0
        for found in _ESCAPE.finditer(self.text):
            start, end = found.span()
            meant = _meant(found)
            size += start - done
            above.undone.append((size, start, len(meant), end - start))
            parts += [self.text[done:start], meant]
            size += len(meant)
            done = end
        above.text = b"".join([*parts, self.text[done:]])
        return above

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of this text stands in the text of the first layer, whole escapes included."""
        layer: Layer | None = self
        while layer is not None and layer.below is not None:
            start, end = layer.lowered(start, end)
            layer = layer.below
        return start, end

    def lowered(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span stands one layer below."""
        first = bisect_right(self.undone, start, key=_at) - 1
        last = bisect_left(self.undone, end, key=_at) - 1
        return self._lowered(start, first, inside=0), self._lowered(end, last, inside=1)

    def _lowered(self, place: int, nth: int, inside: int) -> int:
        """Within the escape before the place, `nth`, it moves to the escape's start (0) or its end (1)."""
        if nth < 0:
            return place
        at, origin, size, before = self.undone[nth]
        past = place - at - size
        return origin + (before + past if past >= 0 else before * inside)


def _at(escape: tuple[int, int, int, int]) -> int:
    return escape[0]


def peeled(text: bytes) -> bytes | None:
    """Return the text with one layer of escapes undone, quickly and with no way back; None if there is none."""
    if _PAIR in text:
        meant = _ESCAPE.sub(_meant, text)
        return None if meant == text else meant
    if b"\\" in text:
        meant = text.replace(b"\\\\", _PAIR)
        for said, sign in _SHORT_BACKSLASHES:
            meant = meant.replace(said, sign)
        if _has_long_escape(meant):
            meant = _LONG_ESCAPE.sub(_meant, meant)
        return None if meant == text else meant.replace(_PAIR, b"\\")
    return _LONG_ESCAPE.sub(_meant, text) if _has_long_escape(text) else None


def _has_long_escape(text: bytes) -> bool:
    signs = b"%" in text or b"&" in text or b"\x1b" in text or b"\0" in text or b"\xe2\x80" in text or b"\\" in text
    return signs and _LONG_ESCAPE_SOONER.search(text) is not None


def _meant(found: re.Match[bytes]) -> bytes:
    said = found[0]
    short = _SHORT.get(said)
    if short is not None:
        return short
    if said[:1] == b"%":
        return bytes.fromhex(said[1:].decode())
    if said[:2] in (b"\\u", b"\\x"):
        return chr(int.from_bytes(bytes.fromhex(said[2:].decode()))).encode("utf-8", "surrogatepass")
    if said[:2] == b"&#":
        digits = said[2:-1]
        number = int(digits[1:], 16) if digits[:1] in b"xX" else int(digits)
        return chr(number).encode()
    return b""
