"""Limpet, a persistent memory sidecar for AI agents.

The six functions of the script read with the standard library only; `Memory` is the full API and loads APSW, so it is
imported only when it is asked for. Do not use both on one database in one process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet.script import (
    get_recent_events,
    get_session_timeline,
    init_db,
    log_error,
    log_event,
    log_tool_call,
)

if TYPE_CHECKING:
    from limpet.memory import Memory

__version__ = "0.1.0"
__all__ = [
    "Memory",
    "get_recent_events",
    "get_session_timeline",
    "init_db",
    "log_error",
    "log_event",
    "log_tool_call",
]


def __getattr__(name: str) -> Any:
    if name == "Memory":
        from limpet.memory import Memory  # noqa: PLC0415 - it loads APSW

        return Memory
    raise AttributeError(f"module 'limpet' has no attribute {name!r}")
