"""Where in a text secrets stand: first whether any may at all, for all kinds at once, then which. Changes nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import re2

from limpet.errors import BadInput
from limpet.redact.layers import MAX_LAYERS, Layer, peeled
from limpet.redact.mask import kind_words, masks_in, outside, whole_characters
from limpet.redact.names import LONGEST, Named, named
from limpet.redact.patterns import CARD, SHAPES, Shape
from limpet.redact.phrases import LEADS, Lead, Said
from limpet.redact.reading import read_value
from limpet.redact.values import LONGEST_JUDGED, is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.redact.recurring import Known

RANK_NAMED = 2
GATE_MEMORY, RULE_MEMORY = 32 << 20, 8 << 20
"""The most that RE2 may take, in bytes, for the states of the gate and of one rule; it drops old ones past it."""

FIRST_LOOK = 512
"""How much of a value is read to judge it, in bytes; all of it only when it counts."""

CONTEXT = 64
"""How much before and after a match is looked at, in bytes."""


class Found(NamedTuple):
    """A secret and where it stands: offsets in the text given, the secret as it reads with all escapes undone.

    Of finds that overlap the one of the lowest rank says what it is.
    """

    start: int
    end: int
    secret: bytes
    kind: str
    rank: int = 0


class Finder:
    """Knows every kind of secret, and those that the user added."""

    def __init__(self, extra: Sequence[tuple[str, str]] = ()) -> None:
        """Take further kinds as (kind, RE2 pattern). Raises BadInput when a pattern cannot be read."""
        rules: tuple[Shape | Lead, ...] = (
            *SHAPES,
            *LEADS,
            *(Shape(kind_words(kind), pattern, _as_told) for kind, pattern in extra),
        )
        self._rules: list[tuple[Shape | Lead, re2._Regexp]] = []
        self._gate = re2.Set.SearchSet(_options(GATE_MEMORY))
        for rule in rules:
            try:
                self._rules.append((rule, re2.compile(rule.pattern, _options(RULE_MEMORY))))
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
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return any(rules for _, rules in self._peels(data))

    def find(self, text: bytes, known: Known | None = None, *, cards: bool = True) -> list[Found]:
        """Return the secrets in a text, in their order, none overlapping another.

        `known` are the secrets found elsewhere in the same record: they are found here by themselves.
        """
        finds: list[Found] = []
        layer = Layer(text)
        for nth, (peel, rules) in enumerate(self._peels(text)):
            here = [Found(*place) for place in known.again(peel)] if known else []
            if rules or here:
                while layer.depth < nth:
                    layer = layer.next()
                finds += _placed((*self._found(peel, rules, cards), *here), layer, text)
        return merged(finds) if finds else finds

    def _peels(self, text: bytes) -> Iterator[tuple[bytes, Sequence[int]]]:
        """Yield the text of each layer and which rules may match there, without making the way back."""
        peel: bytes | None = text
        for _ in range(MAX_LAYERS + 1):
            if peel is None:
                return
            yield peel, self._gate.Match(peel) or ()
            peel = peeled(peel)

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
            best = min(last, found, key=lambda f: (f.rank, f.start - f.end, len(f.secret)))
            whole.append(best._replace(start=last.start, end=max(last.end, found.end)))
        else:
            whole.append(found)
    return whole


def _placed(finds: Sequence[Found], layer: Layer, text: bytes) -> Iterator[Found]:
    """Yield the finds of a layer where they stand in the text given, without what masks cover already."""
    masks = masks_in(layer.text)
    for found in finds:
        for start, end in outside(masks, found.start, found.end):
            if (start, end) == (found.start, found.end) or not is_remainder(layer.text[start:end]):
                at, to = whole_characters(text, *layer.origin(start, end))
                yield found._replace(start=at, end=to)


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
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
            yield Found(start, end, text[start:end], rule.kind, rule.rank)


def _after_leads(lead: Lead, pattern: re2._Regexp, text: bytes) -> Iterator[Found]:
    """Try each lead, also one inside the value of another, except where that value is a quoted placeholder."""
    past = 0
    for match in pattern.finditer(text):
        name = "" if lead.kind else _text(match.group(1)[-LONGEST:])
        says = Named(lead.kind, sure=True, wordy=True) if lead.kind else named(name)
        if says is None or match.start() < past:
            continue
        value = read_value(text, match.span(), name, says.kind, FIRST_LOOK)
        if value is None:
            continue
        judged = _text(text[value.start : min(value.end, value.start + LONGEST_JUDGED)])
        after = _text(text[value.end : value.end + CONTEXT])
        if lead.counts(Said(judged, says, value.quote, _text(match.group()[-LONGEST:]), after)):
            if value.end > match.end() + FIRST_LOOK // 2:
                value = read_value(text, match.span(), name, says.kind) or value
            yield Found(value.start, value.end, text[value.start : value.end], says.kind, RANK_NAMED)
            past = value.end
        elif value.quote and is_placeholder(judged):
            past = value.end


def is_remainder(piece: bytes) -> bool:
    """Return whether what a mask left over of a value is no secret: a few signs, a scheme, a word."""
    said = _text(piece)
    return len(re.sub(r"\W", "", said)) < 4 or is_placeholder(said)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
