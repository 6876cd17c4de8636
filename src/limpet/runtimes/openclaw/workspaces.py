"""Where each agent's workspace lies and which agents there are, as OpenClaw finds them. Not for what lies in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def agents(state: Path) -> Sequence[str]:
    """Return the ids of the configured agents, the default one first."""
    raise NotImplementedError


def workspace_of(state: Path, agent: str) -> Path:
    """Return the agent's workspace; it may not exist."""
    raise NotImplementedError
