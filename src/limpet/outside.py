"""What can be seen of a moment from outside the store: who records, what waits, what is in the way. Judges nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from limpet import clock, door
from limpet.breaks import Watched
from limpet.errors import Unavailable
from limpet.lock import Lock
from limpet.runtimes.openclaw import setup
from limpet.spool import reader
from limpet.store import opening

if TYPE_CHECKING:
    from pathlib import Path

    from limpet.settings import Settings
    from limpet.store.port import Store

HELLO_S = 1.0
"""How long a sidecar may take to say that it lives."""

IDLE_S = 60.0
"""A sidecar that works looks at the spool ten times a second; one round may take long, but not so long."""

BUSY_S = 2.5
"""How long a command that takes things in may hold the lock and answer nobody."""


def watched(settings: Settings, store: Store | None, now: int) -> Watched:
    """Return what can be seen of this machine at `now`, in epoch milliseconds; `store` is None where there is none."""
    spool = reader.SpoolSource(settings.spool)
    owns = settings.owns_spool
    cursor = store.state.cursor("spool") if owns and store is not None else {}
    living = spool.living(now) if owns else frozenset()
    seen = _sidecar(settings) if owns else Seen(Lock(settings.lock).is_held())
    misplaced, advice = _misplaced(settings.db)
    return Watched(
        now_ms=now,
        recording=seen.recording,
        plugin=setup.is_installed(settings.state),
        alive=bool(living),
        pending=spool.pending_bytes(cursor, now) if owns else 0,
        pending_ms=spool.oldest_pending_ms(cursor, now) if owns else None,
        spool_fault=spool.fault() if owns else "",
        disabled=setup.fault(settings.state) if owns else "",
        living=living,
        complaint=seen.complaint,
        stuck=seen.stuck,
        beside=seen.beside,
        log_bytes=_size(settings.db.with_name(f"{settings.db.name}-wal")),
        damaged=_left_behind(settings),
        misplaced=misplaced,
        advice=advice,
    )


class Seen(NamedTuple):
    """Whether a recorder holds the lock, why it cannot record, that it does nothing any more, what else goes wrong."""

    recording: bool
    complaint: str = ""
    stuck: str = ""
    beside: tuple[str, ...] = ()


def _sidecar(settings: Settings) -> Seen:
    """Return what can be seen of a sidecar.

    A command that takes things in holds the lock, too, and answers nobody, but not for long.
    """
    lock = Lock(settings.lock)
    end = clock.monotonic_s() + BUSY_S
    while lock.is_held():
        if (said := door.ask(settings.socket, {"op": "hello"}, HELLO_S)) is not None:
            idle_s, complaint = float(said.get("idle_s") or 0.0), str(said.get("complaint") or "")
            is_stuck = idle_s > IDLE_S and not complaint
            stuck = f"The sidecar has done nothing for {idle_s:,.0f} s." if is_stuck else ""
            return Seen(True, complaint, stuck, tuple(map(str, said.get("beside") or ())))
        if clock.monotonic_s() >= end:
            return Seen(recording=True, stuck="The sidecar runs, but does not answer.")
        clock.sleep(0.05)
    return Seen(recording=False)


def _misplaced(db: Path) -> tuple[str, str]:
    """Return why no database can be written there, and what to do; "" where it can."""
    try:
        opening.check_place(db)
    except Unavailable as error:
        return error.message, error.hint
    return "", ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _left_behind(settings: Settings) -> str:
    """Return where the newest damaged database lies that was moved aside and not taken away, "" where none does."""
    found = [path for path in settings.db.parent.glob(f"{settings.db.name}.damaged-*") if path.name[-1].isdigit()]
    return str(max(found)) if found else ""
