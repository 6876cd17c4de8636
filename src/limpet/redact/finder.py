"""Where in a text secrets stand: first whether any may at all, for all kinds at once, then which. Changes nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import re2

from limpet.errors import BadInput
from limpet.redact.layers import MAX_LAYERS, Layer, peeled
from limpet.redact.mask import kind_words, outside_masks
from limpet.redact.names import Named, named
from limpet.redact.patterns import CARD, SHAPES, Shape
from limpet.redact.phrases import LEADS, Lead, Said
from limpet.redact.reading import read_value
from limpet.redact.values import LONGEST_JUDGED, is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RANK_NAMED = 2
CONTEXT = 64
"""How much before and after a match is looked at, in bytes."""


class Found(NamedTuple):
    """A secret and where it stands: offsets in the text given, the secret as it reads with all escapes undone.

    Of finds that overlap the one of the lowest rank says what it is.
    """

    start: int
    end: int
    kind: str
    secret: bytes
    rank: int


class Finder:
    """Knows every kind of secret, and those that the user added."""

    def __init__(self, extra: Sequence[tuple[str, str]] = ()) -> None:
        """Take further kinds as (kind, RE2 pattern). Raises BadInput when a pattern cannot be read."""
        shapes = (*SHAPES, *(Shape(kind_words(kind), pattern, _as_told) for kind, pattern in extra))
        self._rules: list[tuple[Shape | Lead, re2._Regexp]] = []
        self._gate = re2.Set.SearchSet(_options())
        for rule in (*shapes, *LEADS):
            try:
                self._rules.append((rule, re2.compile(rule.pattern, _options())))
                self._gate.Add(rule.hint or rule.pattern)
            except re2.error as error:
                raise BadInput(
                    f"The pattern for {rule.kind!r} cannot be read: {rule.pattern}",
                    "It has to be a regular expression that RE2 knows.",
                ) from error
        self._gate.Compile()
        self.may_hold = lru_cache(maxsize=16384)(self.suspects)

    def suspects(self, text: str | bytes) -> bool:
        """Return whether the text may hold a secret; a text that holds one is never passed over."""
        layer: bytes | None = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        for _ in range(MAX_LAYERS + 1):
            if layer is None:
                return False
            if self._gate.Match(layer):
                return True
            layer = peeled(layer)
        return False

    def find(self, text: bytes, known: Mapping[bytes, str], *, cards: bool = True) -> list[Found]:
        """Return the secrets in a text, in their order, none overlapping another.

        `known` are secrets found elsewhere in the same record, with their kinds: they are found here by themselves.
        """
        finds: list[Found] = []
        layer: Layer | None = Layer(text)
        for _ in range(MAX_LAYERS + 1):
            if layer is None:
                break
            rules = self._gate.Match(layer.text)
            if rules:
                finds += _placed(self._found(layer.text, rules, cards), layer)
            if known:
                finds += _placed(_recurring(layer.text, known), layer)
            layer = layer.next()
        return merged(finds) if finds else finds

    def _found(self, text: bytes, rules: Sequence[int], cards: bool) -> Iterator[Found]:
        for nth in rules:
            rule, pattern = self._rules[nth]
            if isinstance(rule, Lead):
                yield from _after_leads(rule, pattern, text)
            elif cards or rule is not CARD:
                yield from _of_shape(rule, pattern, text)


def merged(finds: Sequence[Found]) -> list[Found]:
    """Return finds in their order, those that overlap made one: its span is all of theirs."""
    whole: list[Found] = []
    for found in sorted(finds):
        if whole and found.start < whole[-1].end:
            last = whole.pop()
            best = min(last, found, key=lambda f: (f.rank, -len(f.secret)))
            whole.append(best._replace(start=last.start, end=max(last.end, found.end)))
        else:
            whole.append(found)
    return whole


def _placed(finds: Iterator[Found], layer: Layer) -> Iterator[Found]:
    """Yield the finds of a layer where they stand in the text given, without what masks cover already."""
    for found in finds:
        for start, end in outside_masks(layer.text, found.start, found.end):
            if (start, end) == (found.start, found.end) or not is_remainder(layer.text[start:end]):
                at, to = layer.origin(start, end)
                yield found._replace(start=at, end=to)


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    return options


def _as_told(_secret: str, _before: str, _after: str) -> bool:
    return True


def _of_shape(rule: Shape, pattern: re2._Regexp, text: bytes) -> Iterator[Found]:
    group = min(pattern.groups, 1)
    for match in pattern.finditer(text):
        start, end = match.span(group)
        if start < end and rule.holds(
            _text(text[start:end]), _text(text[max(0, start - CONTEXT) : start]), _text(text[end : end + CONTEXT])
        ):
            yield Found(start, end, rule.kind, text[start:end], rule.rank)


def _after_leads(lead: Lead, pattern: re2._Regexp, text: bytes) -> Iterator[Found]:
    """Try each lead, also one that stands inside what an earlier one could have had for a value."""
    for match in pattern.finditer(text):
        name = "" if lead.kind else _text(match.group(1))
        says = Named(lead.kind, sure=True, wordy=True) if lead.kind else named(name)
        if says is None:
            continue
        value = read_value(text, match.span(), name, says.kind)
        if value is None:
            continue
        judged = _text(text[value.start : min(value.end, value.start + LONGEST_JUDGED)])
        if lead.counts(Said(judged, says, value.quoted, match.group())):
            yield Found(value.start, value.end, says.kind, text[value.start : value.end], RANK_NAMED)


def _recurring(text: bytes, known: Mapping[bytes, str]) -> Iterator[Found]:
    for secret, kind in known.items():
        at = text.find(secret)
        while at >= 0:
            yield Found(at, at + len(secret), kind, secret, 0)
            at = text.find(secret, at + len(secret))


def is_remainder(piece: bytes) -> bool:
    """What a mask left over of a value is no secret when it is a few signs, a scheme, or a word."""
    said = _text(piece)
    return len(re.sub(r"\W", "", said)) < 4 or is_placeholder(said)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
