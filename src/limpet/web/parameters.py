"""The parameters that an address may carry: one table that reads them, refuses them, and describes them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import days
from limpet.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST = 1_000_000_000
MOST_AT_ONCE = 10_000
"""So many events stand in one answer at most; `offset` gets the others."""

TRUTHS = {"": False, "0": False, "false": False, "no": False, "1": True, "true": True, "yes": True}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `kind` is `text`, `integer`, `number`, `truth`, `zone` or `time`; bounds are included."""

    name: str
    kind: str
    help: str
    default: Any = None
    low: float = 0
    high: float = MOST
    needed: bool = False
    in_path: bool = False

    def read(self, said: str) -> Any:
        """Return the value; raises BadInput, naming the parameter."""
        if self.kind == "text":
            return said
        if self.kind == "zone":
            return _zone(said)
        if self.kind == "time":
            return _time(said)
        if self.kind == "truth":
            return self._truth(said)
        return self._number(said)

    def _truth(self, said: str) -> bool:
        if said.lower() not in TRUTHS:
            raise BadInput(f"{self.name} is {said[:40]!r}, but it must be true or false.", f"{self.name}=true")
        return TRUTHS[said.lower()]

    def _number(self, said: str) -> float:
        plain = said.isascii() and said.replace(".", "", self.kind == "number").isdigit() and len(said) <= 20
        value = (int(said) if self.kind == "integer" else float(said)) if plain else -1
        if not plain or not self.low <= value <= self.high:
            message = f"{self.name} is {said[:40]!r}, but it must be a number from {self.low:g} to {self.high:,.0f}."
            raise BadInput(message, f"{self.name}={self.default or self.low:g}")
        return value


Q = Parameter("q", "text", "a question, in plain English or in filters", needed=True)
LIMIT = Parameter("limit", "integer", "how many events are shown (0: as many as the question says)", 0, 0, MOST_AT_ONCE)
OFFSET = Parameter("offset", "integer", "leave out the first so many", 0)
TZ = Parameter("tz", "zone", "the time zone (IANA) of the answer; else the user's", "")
NOW = Parameter("now", "time", "take this ISO time for now, so that an answer can be repeated")


def read(parameters: Sequence[Parameter], said: Sequence[tuple[str, str]], path: Mapping[str, str]) -> dict[str, Any]:
    """Return the value of each parameter; raises BadInput for one that is unknown, missing, wrong or given twice."""
    given = dict(said)
    known = {one.name for one in parameters if not one.in_path}
    if strange := sorted(given.keys() - known):
        raise BadInput(
            f"There is no parameter {strange[0][:40]!r} here.", f"It takes: {', '.join(sorted(known)) or 'none'}."
        )
    if len(given) != len(said):
        raise BadInput("A parameter is given twice.", "Give each one once.")
    return {one.name: _value(one, (path if one.in_path else given).get(one.name)) for one in parameters}


def _value(one: Parameter, said: str | None) -> Any:
    if said is None:
        if one.needed:
            raise BadInput(f"The parameter {one.name} is missing: {one.help}.", "/api/openapi.json  describes all.")
        return one.default
    return one.read(said)


def _zone(said: str) -> str:
    if said:
        days.zone(said)
    return said


def _time(said: str) -> int:
    at_ms, flag = days.instant(said, 0, "UTC")
    if flag.startswith("time_"):
        raise BadInput(f"now is {said[:40]!r}, which is no time.", "For example now=2026-10-26T09:00:00Z")
    return at_ms
