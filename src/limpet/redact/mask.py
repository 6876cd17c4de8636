"""What stands in place of a secret: a mask that says the kind and can never be taken for a value."""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HINT = "⟦removed: ".encode()
MASK = re.compile("⟦removed: [a-z0-9 ]{1,40} #[0-9a-f]{8}; not a value⟧".encode())


def mask(kind: str, secret: bytes, key: bytes) -> bytes:
    """Return the mask of a secret; its fingerprint is keyed, so that the same secret can be recognised, not guessed."""
    print_ = hmac.new(key, secret, hashlib.sha256).hexdigest()[:8]
    return f"⟦removed: {kind} #{print_}; not a value⟧".encode()


def kind_words(kind: str) -> str:
    """Return a kind as a mask can say it: small letters, digits and single spaces, at most 40."""
    return re.sub(r"[^a-z0-9]+", " ", kind.lower()).strip()[:40].strip() or "secret"


def masks_in(text: bytes) -> list[tuple[int, int]]:
    """Return where masks stand in a text."""
    return [found.span() for found in MASK.finditer(text)] if HINT in text else []


def outside(masks: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a span that no mask covers."""
    for nth in range(bisect_right(masks, start, key=itemgetter(1)), len(masks)):
        first, last = masks[nth]
        if first >= end:
            break
        if start < first:
            yield start, first
        start = last
    if start < end:
        yield start, end


def whole_characters(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Return a span widened to whole characters of UTF-8, which have at most three bytes after the first."""
    for _ in range(3):
        start -= 0 < start < len(text) and text[start] & 0xC0 == 0x80
        end += end < len(text) and text[end] & 0xC0 == 0x80
    return start, end
