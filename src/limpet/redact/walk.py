"""One pass over a value, string by string, that puts masks where secrets are found. Not for telling what one is."""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from limpet.redact.finder import RANK_NAMED, Found, is_remainder, merged
from limpet.redact.mask import mask, masks_in, outside
from limpet.redact.names import named, names_an_id
from limpet.redact.phrases import counts_under
from limpet.redact.values import is_mixed, is_name, is_word, scheme_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.model import Json
    from limpet.redact.finder import Finder
    from limpet.redact.names import Named
    from limpet.redact.recurring import Known

_ID = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?:call|toolu|srvtoolu|fc|fco|msg|resp|rs|run|chatcmpl|cmpl|req|gen|thread|item|evt|event|step|asst|file|batch"
    r"|conv|sess|session|ws|mcp|ctc|tool|chat|task|job|agent)[_-][A-Za-z0-9]{6,64}"
)
"""Ids that runtimes and providers give; drawn by lot, and no secrets."""

SHORT_CHARS = 80
MOST_ARGUMENTS = 512
_UNDER_A_NAME = frozenset({"value", "data", "raw", "plain", "plaintext", "current", "default", "string"})
_NAMING = ("name", "key", "header", "variable", "field")


def names_its_value(item: Mapping[str, Json]) -> Named | None:
    """Return what `{"name": "API_KEY", "value": …}` says of its value, or None if it is not of that form."""
    said = (item[key] for key in _NAMING if isinstance(item.get(key), str))
    return next((says for name in said if (says := named(name)) is not None), None)


class Walk:
    """Goes through a value once; `counts` are the masks made by kind, `learned` the finds to be known elsewhere."""

    def __init__(self, finder: Finder, key: bytes, known: Known) -> None:
        """Take what finds, the key of the fingerprints, and the secrets that earlier passes found."""
        self._finder = finder
        self._key = key
        self._known = known
        self.counts: Counter[str] = Counter()
        self.learned: list[Found] = []

    def value(self, value: Json, key: str = "", says: Named | None = None) -> Json:
        """Return the value with masks; `key` is the name it stands under, `says` what that says of it."""
        if isinstance(value, str):
            return self._string(value, key, says)
        if isinstance(value, dict):
            return self._object(value, says)
        if isinstance(value, list):
            return self._list(value, key, says)
        return value

    def raw(self, raw: bytes) -> bytes:
        """Return raw bytes with masks."""
        return self._masked(raw, self._finder.find(raw, self._known))

    def _object(self, item: Mapping[str, Json], parent: Named | None) -> Json:
        about = names_its_value(item) if "value" in item else None
        return {
            self._string(key, "", None): self.value(value, key, _says(key, parent, about))
            for key, value in item.items()
        }

    def _list(self, items: Sequence[Json], key: str, says: Named | None) -> Json:
        if (
            says is None
            and len(items) <= MOST_ARGUMENTS
            and any(isinstance(item, str) and item.startswith("-") for item in items)
        ):
            return self._arguments(items)
        return [self.value(item, key, says) for item in items]

    def _arguments(self, items: Sequence[Json]) -> Json:
        """Read a list of arguments like a command line: the value of a flag stands in the next item."""
        parts = [item.encode("utf-8", "surrogatepass") if isinstance(item, str) else b"" for item in items]
        ends = list(accumulate(len(part) + 1 for part in parts))
        finds = self._finder.find(b" ".join(parts), self._known)
        masked: list[Json] = []
        for item, part, end in zip(items, parts, ends, strict=True):
            start = end - 1 - len(part)
            here = [
                f._replace(start=max(f.start - start, 0), end=min(f.end - start, len(part)))
                for f in finds
                if f.start < end - 1 and f.end > start
            ]
            masked.append(self._string(item, "", None, here) if isinstance(item, str) else self.value(item))
        return masked

    def _string(self, text: str, key: str, says: Named | None, also: Sequence[Found] = ()) -> str:
        if says is None and not also and self._is_clean(text):
            return text
        data = text.encode("utf-8", "surrogatepass")
        tells_apart = key != "" and names_an_id(key)
        finds = self._finder.find(data, None if tells_apart else self._known, cards=not tells_apart)
        finds = merged([*finds, *also, *_whole(text, data, says)])
        return self._masked(data, finds).decode("utf-8", "surrogatepass") if finds else text

    def _is_clean(self, text: str) -> bool:
        """Short texts come again and again; what is known of them need not be found out again."""
        short = len(text) <= SHORT_CHARS and not self._known
        return (short and not self._finder.may_hold(text)) or _ID.fullmatch(text) is not None

    def _masked(self, data: bytes, finds: Sequence[Found]) -> bytes:
        parts, done = [], 0
        for found in finds:
            parts += [data[done : found.start], mask(found.kind, found.secret, self._key)]
            done = found.end
            self.counts[found.kind] += 1
            if _is_telling(found.secret):
                self.learned.append(found)
        return b"".join([*parts, data[done:]])


def _says(key: str, parent: Named | None, about: Named | None) -> Named | None:
    says = named(key)
    if says is None and key == "value":
        says = about
    return parent if says is None and key in _UNDER_A_NAME else says


def _whole(text: str, data: bytes, says: Named | None) -> Iterator[Found]:
    """Yield a value that stands under the name of a secret, as far as no mask covers it."""
    if says is None or not counts_under(says, text):
        return
    for start, end in outside(masks_in(data), scheme_length(text), len(data)):
        if (end - start) == len(data) - scheme_length(text) or not is_remainder(data[start:end]):
            yield Found(start, end, data[start:end], says.kind, RANK_NAMED)


def _is_telling(secret: bytes) -> bool:
    """Return whether a secret is long and odd enough to be looked for by itself elsewhere in the record."""
    said = secret.decode("utf-8", "replace")
    odd = is_mixed(said) and any(c.isdigit() for c in said) and not is_name(said)
    return len(secret) >= 8 and (odd or (len(secret) >= 24 and not is_word(said)))
