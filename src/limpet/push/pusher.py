"""The pusher: brings what the fleet lacks, batch by batch, however often it was stopped. It decides nothing of when."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet import clock, coverage
from limpet.errors import Unavailable
from limpet.push.batch import Reader
from limpet.push.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from limpet.store.sqlite import SqliteStore


UNDERWAY = "push_underway"
"""Under this name the store keeps up to which change the batch goes that was laid down last."""


class Pushed(NamedTuple):
    """What a push brought: as which machine, how many records and events, up to which record; what to look at."""

    machine: str
    records: int
    events: int
    head: int
    warning: str = ""


class Pusher:
    """Pushes one store, open for writing, to one fleet."""

    def __init__(self, store: SqliteStore, where: str, password: str = "", name: str = "") -> None:
        """Push to this address; under `name`, or the name that was used before, or one made from the host's."""
        self._store = store
        self._where = where
        self._password = password
        self._name = name
        self._outbox = store.outbox
        self._reader = Reader(store)

    @property
    def name(self) -> str:
        """The name of this machine in the fleet."""
        if not self._name:
            known = self._outbox.membership()
            self._name = known.machine if known else f"{socket.gethostname()}-{clock.token(3)}"
        return self._name

    def push(
        self, about: Callable[[], Mapping[str, Any]], progress: Callable[[Pushed], None] = lambda _: None
    ) -> Pushed:
        """Bring everything there is; return what was brought. `about` gives what the machine says of itself.

        Raises Unavailable, and BadInput for a login that is refused: nothing is lost, and the next push goes on.
        """
        target = Target(self._where, self._password, self.name)
        try:
            self._settle(target)
            done = Pushed(self.name, 0, 0, target.standing.records, _warning(target.skew_ms))
            said = _said({**about(), "skew_ms": target.skew_ms})
            batch = self._reader.next(target.standing.records, target.standing.sent)
            while True:  # once also with nothing to bring: the fleet is to know that we live
                self._set_out(target, batch.sent)
                target.take(batch, said)
                self._strike_out(target)
                done = done._replace(
                    records=done.records + batch.records, events=done.events + batch.events, head=batch.head
                )
                progress(done)
                batch = self._reader.next(batch.head, batch.sent)
                if batch.is_empty:
                    return done
        finally:
            target.close()

    def _settle(self, target: Target) -> None:
        """Compare both sides' watermarks: what is known there need not go again, what is unknown there must."""
        here, there = self._outbox.membership(), target.standing
        same = here is not None and (here.fleet, here.machine) == (there.fleet, self.name)
        self._check_ledger(target, same=same)
        if same and here is not None and there.sent in (here.sent, self._underway(here.sent)):
            self._strike_out(target)
            return
        with self._store.transaction():
            self._outbox.join(there.fleet, self.name, there.sent, again=there.records > 0)

    def _set_out(self, target: Target, through: int) -> None:
        """Note up to which change the next batch goes: so that the fleet may hold it where we heard no more of it.

        Any other number of the fleet's is of changes that this database does not know: it was put back from a copy.
        """
        if through != target.standing.sent:
            with self._store.transaction():
                self._store.state.put_meta(UNDERWAY, str(through))

    def _underway(self, sent: int) -> int:
        return max(sent, int(self._store.state.meta(UNDERWAY) or 0))

    def _check_ledger(self, target: Target, *, same: bool) -> None:
        """Raise Unavailable where the fleet's ledger of this name is not the beginning of ours.

        Where that beginning was cut off here, only that we pushed under this name before can tell.
        """
        there = target.standing
        if there.records == 0 or self._store.records.hash_at(there.records) == there.head:
            return
        if same and there.records <= self._outbox.begins():
            return
        message = (
            f"The fleet knows another ledger as {self.name!r}: this database was put back, or another has that name."
        )
        raise Unavailable(message, "limpet push --as NAME  goes on under a new name.", "other_ledger")

    def _strike_out(self, target: Target) -> None:
        with self._store.transaction():
            self._outbox.done(target.standing.sent, target.standing.records)


def _warning(skew_ms: int) -> str:
    if abs(skew_ms) < coverage.FAR_OFF_MS:
        return ""
    side = "ahead of" if skew_ms > 0 else "behind"
    return f"This machine's clock is {abs(skew_ms) // 60_000:,} minutes {side} the fleet's."


def _said(about: Mapping[str, Any]) -> str:
    return json.dumps(about).replace("\\u0000", "\\ufffd")
