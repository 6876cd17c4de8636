"""Pushing, as it is done: one push at a time per machine, now for whoever asks, or again and again for the sidecar."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet import clock, fleet
from limpet import settings as settings_module
from limpet.errors import LimpetError, Unavailable
from limpet.lock import Lock
from limpet.memory import Memory
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping

    from limpet.push.pusher import Pushed
    from limpet.settings import Settings

LOCK = "push.lock"
META = "push"
"""Under this name the store keeps how the last push went."""

EVERY_S = 5.0
"""How often the sidecar looks whether there is something to push."""

TELL_S = 30.0
"""How often it pushes where there is nothing: so that silence can be told from absence."""

LONGEST_S = 300.0
"""How long it waits at most after pushes that failed."""

PATIENCE_S = 60.0


class LastPush(NamedTuple):
    """How the last push went: when it began to fail and why ("" where it did not), when one was last done."""

    done_ms: int | None
    failing_ms: int | None
    why: str


class Pushing:
    """The pushes of one memory to one fleet."""

    def __init__(self, settings: Settings, where: str = "", name: str = "") -> None:
        """Push to this address, or the one that the settings name; under `name`, or the settings' name."""
        self._settings = settings
        self._where = where or settings.push
        self._name = name or settings.machine

    def once(self, progress: Callable[[Pushed], None] = lambda _: None) -> Pushed:
        """Bring to the fleet all that it lacks, now; how it went is kept for `status`.

        Raises Unavailable, or BadInput for a login that is refused; nothing is lost then, and the next push goes on.
        """
        fleet.check_installed()
        self._settings.check_local()
        with self._alone(), Memory(self._settings) as memory:
            about = memory.about()
            with contextlib.closing(SqliteStore(self._settings.db, writing=True)) as store:
                return self._pushed(store, about, progress)

    def run(self, stop: threading.Event, say: Callable[[str], None]) -> None:
        """Push again and again until told to stop; a fault is said once, and tried again after a growing pause."""
        complaint, pause_s = "", EVERY_S
        while not stop.wait(pause_s):
            try:
                self._look()
                said, pause_s = "", EVERY_S
            except LimpetError as error:
                said, pause_s = error.message, min(pause_s * 2, LONGEST_S)
            except Exception as fault:  # noqa: BLE001 - a fault of ours in one push must not end the others
                said, pause_s = f"Limpet made a mistake ({type(fault).__name__}: {fault}).", LONGEST_S
            if said != complaint:
                say(f"cannot push: {said}" if said else "pushing again")
            complaint = said

    def _look(self) -> None:
        """Push where there is something to bring, or where nothing was told for a while."""
        if not self._settings.db.exists():
            return
        with contextlib.closing(SqliteStore(self._settings.db, writing=False)) as store:
            last = last_push(store)
            idle = not any(waiting(store))
        if not idle or last.failing_ms or clock.now_ms() - (last.done_ms or 0) >= TELL_S * 1000:
            self.once()

    def _pushed(self, store: SqliteStore, about: Mapping[str, Any], progress: Callable[[Pushed], None]) -> Pushed:
        from limpet.push.pusher import Pusher  # noqa: PLC0415 - psycopg, an extra

        password = settings_module.secret(self._settings.push_password_env)
        try:
            done = Pusher(store, self._where, password, self._name).push(lambda: about, progress)
        except LimpetError as error:
            before = last_push(store)
            self._keep(store, LastPush(before.done_ms, before.failing_ms or clock.now_ms(), error.message))
            raise
        self._keep(store, LastPush(clock.now_ms(), None, done.warning))
        return done

    def _keep(self, store: SqliteStore, last: LastPush) -> None:
        with store.transaction():
            store.state.put_meta(META, json.dumps(last))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        lock = Lock(self._settings.home / LOCK)
        end = clock.monotonic_s() + PATIENCE_S
        while not lock.take():
            if clock.monotonic_s() >= end:
                raise Unavailable("Another Limpet is pushing.", "Try again in a minute.", "pushing")
            clock.sleep(0.05)
        try:
            yield
        finally:
            lock.release()


def last_push(store: SqliteStore) -> LastPush:
    """Return how the last push of this memory went."""
    kept = store.state.meta(META)
    return LastPush(*json.loads(kept)) if kept else LastPush(None, None, "")


def waiting(store: SqliteStore) -> tuple[int, int]:
    """Return how many records and how many changes the fleet lacks, as far as is known here."""
    known = store.outbox.membership()
    head, _ = store.records.head()
    return head - (known.head if known else 0), store.outbox.left()
