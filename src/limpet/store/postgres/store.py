"""The fleet as a store: the port's verbs on the rows of one machine, or of all that the reader may see."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet import address
from limpet.errors import NotFound
from limpet.store.bodies import kept_and_found
from limpet.store.events import EventTable
from limpet.store.finding import Finder
from limpet.store.names import Names
from limpet.store.postgres import opening
from limpet.store.postgres.connection import STRIDE, FleetConnection
from limpet.store.postgres.hits import Phrases
from limpet.store.records import Records
from limpet.store.sql import queries
from limpet.store.state import State
from limpet.store.terms import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    import psycopg

    from limpet.model import Event

DIALECT = "postgres"


class Machine(NamedTuple):
    """A machine of the fleet: number and name there, how many records came, when it pushed last, what it said then."""

    number: int
    name: str
    records: int
    head: bytes
    pushed_ms: int
    said: Mapping[str, Any]


class FleetFinder(Finder):
    """The reading verbs on events of several machines: each event comes with the name of its own."""

    def __init__(self, connection: FleetConnection, names: Mapping[int, str]) -> None:
        """Use this connection; `names` are those of the machines by number."""
        super().__init__(connection, DIALECT)
        self._names = names

    def _said(self, codes: Collection[Any]) -> Mapping[Any, str]:
        return {None: "", **{code: code for code in codes}}  # the fleet keeps names as they are

    def _rows(self, positions: Sequence[int]) -> Iterator[tuple[int, Event]]:
        for key, event in super()._rows(positions):
            yield key, replace(event, machine=self._names.get(event.id // STRIDE, ""))


class FleetRecords(Records):
    """The ledgers there; large texts are read some at a time."""

    def __init__(self, connection: FleetConnection, names: Names) -> None:
        """Use this connection."""
        super().__init__(connection, names, DIALECT)
        self._fleet = connection

    def bodies(self) -> Iterator[tuple[str, str]]:
        """Yield, of every large text, the hash that it is kept under and the one that it has, as hex."""
        for digest, codec, stored in self._fleet.stream(queries(DIALECT)["bodies"]):
            yield kept_and_found(digest, codec, stored)


class FleetStore:
    """One fleet, open for reading. `records`, `events`, `state` and `find` are its verbs by subject."""

    def __init__(self, connection: psycopg.Connection[Any], machines: Sequence[Machine], *, apart: bool) -> None:
        """Read these machines through a connection; with `apart` their numbers are set apart from each other."""
        self.machines = machines
        self._connection = connection
        self._fleet = FleetConnection(connection, [machine.number for machine in machines], apart=apart)
        self._tokenizer = Tokenizer()
        names = Names(self._fleet)
        self.records = FleetRecords(self._fleet, names)
        self.events = EventTable(self._fleet, names, DIALECT)
        self.state = State(self._fleet, names, DIALECT)
        named = {machine.number: machine.name for machine in machines} if len(machines) > 1 else {}
        self.find = FleetFinder(self._fleet, named)

    @classmethod
    def open(cls, where: str, password: str = "") -> Self:
        """Open the fleet at an address, or one machine of it; raises what `opening.connect` raises, and NotFound."""
        connection = opening.connect(where, password)
        try:
            found = _machines(connection)
            wanted = address.parsed(where).machine
            chosen = _named(found, wanted) if wanted else found
        except BaseException:
            connection.close()
            raise
        return cls(connection, chosen, apart=not wanted)

    def of(self, machine: Machine) -> Self:
        """Return the store of one machine, with its own numbers, on the same connection and snapshot."""
        return type(self)(self._connection, [machine], apart=False)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def snapshot(self) -> AbstractContextManager[None]:
        """Read everything within as of one moment; raises Unavailable."""
        return self._fleet.snapshot()

    def hits(self, wanted: Sequence[str] | None, unwanted: Sequence[str], since: int, until: int) -> Phrases:
        """Return what full text leaves; see the port."""
        found = None if wanted is None else [self._tokenizer.phrase(one) for one in wanted]
        return Phrases(found, [self._tokenizer.phrase(one) for one in unwanted], since, until)

    def hit_pages(self, wanted: Sequence[str], since: int, until: int) -> Iterator[Phrases]:
        """Yield all in one piece; see the port."""
        yield self.hits(wanted, (), since, until)

    def stale(self) -> int:
        """Return 0: an event comes with its text."""
        return 0


def _named(machines: Sequence[Machine], wanted: str) -> Sequence[Machine]:
    chosen = [machine for machine in machines if machine.name == wanted]
    if not chosen:
        names = ", ".join(machine.name for machine in machines[:10])
        raise NotFound(f"There is no machine {wanted[:80]!r} in the fleet.", f"There are: {names or 'none'}.")
    return chosen


def _machines(connection: psycopg.Connection[Any]) -> list[Machine]:
    rows = FleetConnection(connection, (), apart=False).execute(queries(DIALECT)["machines"])
    return [Machine(no, name, count, head, at, json.loads(said)) for no, name, count, head, at, said in rows]
