"""The briefs, kept fresh beside a running sidecar: when to look, and what to do where that fails. Not their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from limpet.brief.keeper import Keeper
from limpet.errors import LimpetError
from limpet.memory import Memory

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from limpet.settings import Settings

EVERY_S = 1.0
"""How often it looks whether a brief has changed."""

RETRY_S = 2.0


class Waking:
    """Keeps the briefs of one memory."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        """Keep the briefs of this memory; `say` gets one line for each new thing that hinders."""
        self._settings = settings
        self._say = say
        self._complaint = ""

    def run(self, stop: threading.Event, is_well: Callable[[], bool]) -> None:
        """Keep them until told to stop. While `is_well` says that nothing can be recorded they are left to grow old."""
        while self._settings.owns_spool and not stop.wait(EVERY_S):
            try:
                if is_well():
                    self._keep(stop, is_well)
            except (LimpetError, apsw.Error, OSError) as error:
                self._complain(getattr(error, "message", f"{error}."))
                stop.wait(RETRY_S)
            except Exception as fault:  # noqa: BLE001 - a fault of ours in one brief must not end the others
                self._complain(f"Limpet made a mistake ({type(fault).__name__}: {fault}).")
                stop.wait(RETRY_S)

    def _keep(self, stop: threading.Event, is_well: Callable[[], bool]) -> None:
        keeper = Keeper(self._settings)
        with Memory(self._settings, 0.0) as memory:
            while self._settings.db.exists() and not stop.is_set():
                store = memory.local()
                store.check_in_place()
                pause = keeper.look(store, memory.watched()) if is_well() else 0.0
                stop.wait(max(EVERY_S, pause))

    def _complain(self, why: str) -> None:
        if why != self._complaint:
            self._say(f"cannot keep the briefs: {why}")
        self._complaint = why
