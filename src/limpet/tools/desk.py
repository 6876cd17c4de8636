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
    """Answers the plugin's requests: `{"op": "tool", "name", "arguments", "agent", "session_key", "whole"}`.

    `whole` is whether all of that agent's memory may be seen, or this conversation alone.
    """

    def __init__(self, settings: Settings) -> None:
        """Read from this memory."""
        self._settings = settings
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `{"text", "code"}` for a request; never raises. Where it is not known who asks nothing is shown."""
        told = self._told(request)
        return {"text": told.text, "code": told.code}

    def _told(self, request: Mapping[str, Any]) -> Told:
        if (scope := _scope(request)) is None:
            return refusal(BadInput("It is not known which agent asks, or where, so nothing is shown."))
        if not self._places.acquire(timeout=WAIT_S):
            return refusal(Unavailable("The memory is busy with other questions.", "Ask again in a moment.", "busy"))
        try:
            with Memory(self._settings, DRAIN_S) as memory:
                return run(memory, str(request.get("name")), request.get("arguments") or {}, scope)
        finally:
            self._places.release()


def _scope(request: Mapping[str, Any]) -> Scope | None:
    """Return what the asker may see, None where the request does not say who it is."""
    agent, session_key = request.get("agent"), request.get("session_key")
    if not isinstance(agent, str) or not agent:
        return None
    if request.get("whole") is True:
        return Scope(agent)
    return Scope(agent, session_key) if isinstance(session_key, str) and session_key else None
