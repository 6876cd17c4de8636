"""What a question has said so far, kept consistent while it is read; becomes a Query. Reads no words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from limpet.model import Query
from limpet.question.refusal import EXAMPLE, as_filter, quote, refused
from limpet.question.settling import Bound, settle
from limpet.question.vocabulary import FILTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.question.moments import Now

SHOWN = 50
"""How many events an answer shows where the question does not say."""

Key = tuple[str, bool]
"""A filter's name, and whether it is negated."""

Element = tuple[tuple[str, tuple[str, ...]], ...]
"""What one phrase says: filters, each with its values."""


@dataclass(slots=True)
class Draft:
    """A question while it is read.

    `joint` is the word (and, or, a comma) that ties the next filter to the last one, `negator` the one that denies it.
    """

    filters: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    asks: bool = False
    yes_no: bool = False
    denies: bool = False
    joint: str = ""
    negator: str = ""
    last: Element = ()

    def add(self, element: Element, *, negated: bool = False) -> None:
        """Take in what a phrase says; raises NotUnderstood where it contradicts what was said before."""
        self.denies = self.denies or bool(self.negator)
        element = self._denied(element) if self.negator else element
        negated = negated or bool(self.negator)
        if self.joint in ("and", "or"):
            self._may_join(element)
        for name, values in element:
            self.filters[name, negated] = self._merged(name, values, negated)
        self.last, self.joint, self.negator, self.asks = element, "", "", True

    def _denied(self, element: Element) -> Element:
        """Return the one filter that a denial denies: "messages except my messages" denies the user.

        What is two filters at once (errors except failed runs) cannot be left out by denying each.
        """
        only = tuple(part for part in element if self.filters.get((part[0], False)) != part[1])
        if dict(only).get("type") == ("tool_call",) and "tool" in dict(only):
            only = tuple(part for part in only if part[0] != "type")  # nothing else has a tool
        if len(only) > 1:
            raise refused(f"One question cannot leave out {_in_words(element)}.", "contradiction", _in_words(element))
        return only or element

    def _may_join(self, element: Element) -> None:
        """Let "failed and blocked" through, and refuse "errors and messages": no filter says either of the two."""
        before, here = dict(self.last), dict(element)
        different = [name for name in here if before.get(name) != here[name]]
        if before.keys() != here.keys() or len(different) > 1:
            said = f"{_in_words(self.last)} {self.joint} {_in_words(element)}".strip()
            raise refused(f"One question cannot ask for {said}: ask for each.", "contradiction", _in_words(element))

    def _merged(self, name: str, values: tuple[str, ...], negated: bool) -> tuple[str, ...]:
        before = self.filters.get((name, negated))
        if before is None:
            return tuple(sorted(set(values)))
        tied = self.joint and name in dict(self.last)
        if tied or negated:
            return tuple(sorted({*before, *values}))
        both = tuple(sorted(set(before) & set(values)))
        if not both:
            either = as_filter(name, sorted({*before, *values}))
            raise refused(
                f"Nothing has two of {name}: {', '.join(before)} and {', '.join(values)}.", "contradiction", either
            )
        return both

    def look_for(self, text: str, *, without: bool = False) -> None:
        """Take in a text that is looked for, or must not be there."""
        if self.joint == "or":
            raise refused('Texts joined by "or" cannot be looked for in one question.', "contradiction", quote(text))
        without = without or bool(self.negator)
        said = self.without if without else self.words
        if text not in said:
            said.append(text)
        self.last, self.joint, self.negator, self.asks = (("text", ()),), "", "", True

    def bound(self, bounds: Sequence[Bound]) -> None:
        """Take in what was said about time."""
        self.bounds.extend(bounds)
        self.last, self.asks = (), True

    def set(self, name: str, value: str) -> None:
        """Take in a setting (by, count, sort, take, limit, offset, noise), which can be said only one way."""
        before = self.settings.setdefault(name, value)
        if before != value:
            raise refused(
                f"{name}: is said twice, as {before} and as {value}.", "contradiction", f"{EXAMPLE} {name}:{value}"
            )
        self.last, self.asks = (), True

    def query(self, now: Now) -> Query:
        """Return the question; `understood` is left to be filled in."""
        window = settle(self.bounds, now)
        settings = self.settings
        take = int(settings.get("take", 0))
        if take and ("by" in settings or "count" in settings):
            raise refused("The first or last few cannot be grouped or counted.", "contradiction", f"{EXAMPLE} by tool")
        if "sort" in settings and ("by" in settings or "count" in settings):
            message = f"Groups have numbers, and no order by time or duration (sort:{settings['sort']})."
            raise refused(message, "contradiction", "slowest tool calls today")
        self._no_denial()
        labelled = ("label", False) in self.filters
        return Query(
            since_ms=window.since_ms,
            until_ms=window.until_ms,
            zone=now.zone,
            filters=_in_order(self.filters),
            words=tuple(self.words),
            without=tuple(self.without),
            by=settings.get("by", ""),
            count=settings.get("count", ""),
            limit=int(settings.get("limit", take or SHOWN)),
            offset=int(settings.get("offset", 0)),
            sort=settings.get("sort", "newest"),
            take=take,
            noise=settings.get("noise", "yes" if labelled else "no") == "yes",
            yes_no=self.yes_no and not self.denies,
            note=" ".join(dict.fromkeys(note for note in (*self.notes, window.note) if note)),
        )

    def _no_denial(self) -> None:
        """Refuse what is asked for and excepted at once."""
        for (name, negated), values in self.filters.items():
            if not negated and set(values) <= set(self.filters.get((name, True), ())):
                message = f"{name}:{','.join(values)} is asked for and excepted at once."
                raise refused(message, "contradiction", as_filter(name, values))


def _in_order(filters: Mapping[Key, tuple[str, ...]]) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    rank = {name: number for number, name in enumerate(FILTERS)}
    keys = sorted(filters, key=lambda key: (rank[key[0]], key[1]))
    return tuple((name, filters[name, negated], negated) for name, negated in keys)


def _in_words(element: Element) -> str:
    return " ".join(as_filter(name, values) for name, values in element if values) or EXAMPLE
