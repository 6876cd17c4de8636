"""Values in, values without secrets out, and how many of which kind. Pure: the same key and value give the same."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from limpet import jsonline
from limpet.redact.finder import Finder
from limpet.redact.names import named
from limpet.redact.recurring import Known
from limpet.redact.walk import SHORT_CHARS, Walk, names_its_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.model import Json

OF_ITS_VALUE, ITSELF = 1, 2
"""Whether a key names a secret, or may hold one."""

PASSES = 12
"""How often a value is gone through at most; two are the rule, a value without secrets needs none."""


class Redactor:
    """Takes secrets out; `key` makes its fingerprints, which is why it must be kept and kept secret."""

    def __init__(self, key: bytes, extra: Sequence[tuple[str, str]] = ()) -> None:
        """Take the key (any bytes, 32 are usual) and the user's own kinds as (kind, RE2 pattern).

        Raises BadInput when a pattern cannot be read.
        """
        self._key = key
        self._finder = Finder(extra)
        self._speaks = lru_cache(maxsize=8192)(self._speaks_of_secrets)
        self._short = lru_cache(maxsize=1024)(self.redact)

    def redact(self, value: Json) -> tuple[Json, Mapping[str, int]]:
        """Return the value with masks in place of secrets, and how many of each kind were taken out.

        Values and keys of objects are looked through, at any depth, also in JSON printed into a string. A value
        without secrets comes back as it is, not copied. Redacting again changes nothing.
        """
        if not self._may_hold(value):
            return value, {}
        try:
            return self._redacted(value)
        except RecursionError:  # deeper than any line that `jsonline` reads
            return self._redacted(jsonline.safe(value))

    def redact_text(self, text: str) -> tuple[str, Mapping[str, int]]:
        """Return the text with masks in place of secrets, and how many of each kind were taken out.

        A short one is remembered: the same kinds and streams stand in every record.
        """
        return self._short(text) if len(text) <= SHORT_CHARS else self.redact(text)

    def redact_bytes(self, raw: bytes) -> bytes:
        """Return bytes, which may be no text at all, with masks in place of secrets and all else as it is."""
        if not self._finder.suspects(raw):
            return raw
        known = Known()
        for _ in range(PASSES):
            walk = Walk(self._finder, self._key, known)
            raw = walk.raw(raw)
            for found in walk.learned:
                known.learn(found.secret, found.kind)
            if not walk.counts:
                break
        return raw

    def _redacted(self, value: Json) -> tuple[Json, Mapping[str, int]]:
        """Go through the value until nothing is found: what one pass finds, the next finds elsewhere by itself."""
        counts: Counter[str] = Counter()
        known = Known()
        for _ in range(PASSES):
            walk = Walk(self._finder, self._key, known)
            value = walk.value(value)
            counts.update(walk.counts)
            for found in walk.learned:
                known.learn(found.secret, found.kind)
            if not walk.counts:
                break
        return value, dict(counts)

    def _may_hold(self, value: Json) -> bool:
        """Return whether a look at every string is worth it: one search over all of them at once says so."""
        texts: list[str] = []
        stack = [value]
        while stack:
            item = stack.pop()
            if type(item) is str:
                texts.append(item)
            elif type(item) is list:
                stack.extend(item)
                if any(type(part) is str and part[:1] == "-" for part in item):
                    texts.append(" ".join(part for part in item if type(part) is str))
            elif type(item) is dict:
                if self._names_a_secret(item):
                    return True
                stack.extend(item.values())
        return self._finder.suspects("\n".join(texts))

    def _names_a_secret(self, item: Mapping[str, Json]) -> bool:
        for key, value in item.items():
            speaks = self._speaks(key) if len(key) <= SHORT_CHARS else self._speaks_of_secrets(key)
            if speaks and (speaks == ITSELF or type(value) in (str, list, dict)):
                return True
        return "value" in item and names_its_value(item) is not None

    def _speaks_of_secrets(self, key: str) -> int:
        if self._finder.suspects(key):
            return ITSELF
        return OF_ITS_VALUE if named(key) is not None else 0
