"""The tools behind the sidecar's socket: one request of the plugin in, one text out, only so many at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from limpet.errors import BadInput, Unavailable
from limpet.memory import Memory
from limpet.tools.running import Told, refusal, run
from limpet.tools.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.settings import Settings

AT_ONCE = 4
"""How many requests are answered at the same time; recording has its own thread and its own connection."""

WAIT_S = 1.0
DRAIN_S = 1.0
"""How long a request waits for its turn, and for what is pending: together well below the plugin's patience."""


class Desk:
    """Answers the plugin's requests: `{"op": "tool", "name", "arguments", "agent", "session_key"?}`."""

    def __init__(self, settings: Settings) -> None:
        """Read from this memory."""
        self._settings = settings
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `{"text", "code"}` for a request; never raises. Without an agent nothing is shown at all."""
        told = self._told(request)
        return {"text": told.text, "code": told.code}

    def _told(self, request: Mapping[str, Any]) -> Told:
        agent, session_key = request.get("agent"), request.get("session_key") or ""
        if not isinstance(agent, str) or not agent or not isinstance(session_key, str):
            return refusal(BadInput("It is not known which agent asks, so nothing is shown."))
        if not self._places.acquire(timeout=WAIT_S):
            return refusal(Unavailable("The memory is busy with other questions.", "Ask again in a moment.", "busy"))
        try:
            with Memory(self._settings, DRAIN_S) as memory:
                return run(memory, str(request.get("name")), request.get("arguments") or {}, Scope(agent, session_key))
        finally:
            self._places.release()
