"""What can be seen of a moment from outside the store: who records, what waits, what is in the way. Judges nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import clock, door
from limpet.breaks import Watched
from limpet.lock import Lock
from limpet.runtimes.openclaw import setup
from limpet.spool import reader

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


def watched(settings: Settings, store: Store, now: int) -> Watched:
    """Return what can be seen of this machine at `now`, in epoch milliseconds."""
    spool = reader.SpoolSource(settings.spool)
    cursor = store.state.cursor("spool") if settings.owns_spool else {}
    owns = settings.owns_spool
    living = spool.living(now) if owns else frozenset()
    recording, complaint, stuck = _sidecar(settings) if owns else (Lock(settings.lock).is_held(), "", "")
    return Watched(
        now_ms=now,
        recording=recording,
        plugin=setup.is_installed(settings.state),
        alive=bool(living),
        pending=spool.pending_bytes(cursor, now) if owns else 0,
        pending_ms=spool.oldest_pending_ms(cursor, now) if owns else None,
        spool_fault=spool.fault() if owns else "",
        disabled=setup.fault(settings.state) if owns else "",
        living=living,
        complaint=complaint,
        stuck=stuck,
        log_bytes=_size(settings.db.with_name(f"{settings.db.name}-wal")),
        damaged=_left_behind(settings),
    )


def _sidecar(settings: Settings) -> tuple[bool, str, str]:
    """Return whether a recorder holds the lock, why it cannot record, and whether it does nothing any more.

    A command that takes things in holds the lock, too, and answers nobody, but not for long.
    """
    lock = Lock(settings.lock)
    end = clock.monotonic_s() + BUSY_S
    while lock.is_held():
        if (said := door.ask(settings.socket, {"op": "hello"}, HELLO_S)) is not None:
            idle_s, complaint = float(said.get("idle_s") or 0.0), str(said.get("complaint") or "")
            is_stuck = idle_s > IDLE_S and not complaint
            return True, complaint, f"The sidecar has done nothing for {idle_s:,.0f} s." if is_stuck else ""
        if clock.monotonic_s() >= end:
            return True, "", "The sidecar runs, but does not answer."
        clock.sleep(0.05)
    return False, "", ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _left_behind(settings: Settings) -> str:
    """Return where the newest damaged database lies that was moved aside and not taken away, "" where none does."""
    found = [path for path in settings.db.parent.glob(f"{settings.db.name}.damaged-*") if path.name[-1].isdigit()]
    return str(max(found)) if found else ""
