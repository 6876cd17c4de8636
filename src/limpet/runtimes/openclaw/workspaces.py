"""Where each agent's workspace lies and which agents there are, as OpenClaw finds them. Not for what lies in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet.errors import BadInput
from limpet.runtimes.openclaw.configuration import Configuration
from limpet.settings import user_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.settings import Settings

MAIN = "main"
"""The only agent where none is configured."""

ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.IGNORECASE)
NOT_IN_ID = re.compile(r"[^a-z0-9_-]+")


class Workspace(NamedTuple):
    """An agent's workspace, and what says that it lies there."""

    path: Path
    why: str


class Workspaces:
    """The agents of one installation, as its configuration stands now."""

    def __init__(self, settings: Settings) -> None:
        """Read the configuration; where it cannot be read, there is the agent `main`."""
        self._settings = settings
        try:
            found = Configuration(settings.state / "openclaw.json").effective(("agents",))
        except BadInput:
            found = None
        self._agents: Mapping[str, Any] = found if isinstance(found, dict) else {}
        self._entries = _entries(self._agents)

    def agents(self) -> Sequence[str]:
        """Return the ids of the configured agents, first the one to whom belongs what names no agent."""
        if not self._entries:
            return [MAIN]
        marked = [name for name, entry in self._entries.items() if entry.get("default") is True]
        first = marked[0] if marked else MAIN if MAIN in self._entries else next(iter(self._entries))
        return [first, *(name for name in self._entries if name != first)]

    def of(self, agent: str) -> Workspace:
        """Return the agent's workspace; it may not exist."""
        if agent in self._settings.workspaces:
            return Workspace(Path(self._settings.workspaces[agent]), "config.toml, workspaces")
        name = normal(agent)
        if own := _path(self._entries.get(name, {}).get("workspace")):
            return Workspace(self._at(own), f"OpenClaw's agents, {name}")
        defaults = self._agents.get("defaults")
        root = _path(defaults.get("workspace") if isinstance(defaults, dict) else None)
        if self._inherits(name):
            return Workspace(self._at(root), "OpenClaw's agents.defaults.workspace") if root else self._default()
        if root:
            return Workspace(self._at(root) / name, "OpenClaw's agents.defaults.workspace")
        return Workspace(self._settings.state / f"workspace-{name}", "OpenClaw's default")

    def _inherits(self, name: str) -> bool:
        """Whether this agent has the default workspace itself: the only one, or the one marked as the default."""
        marked = [other for other, entry in self._entries.items() if entry.get("default") is True]
        owners = marked if len(marked) == 1 else list(self._entries) if len(self._entries) == 1 else []
        return name in (owners if self._entries else [MAIN])

    def _default(self) -> Workspace:
        if self._settings.workspace:
            return Workspace(Path(self._settings.workspace), "OPENCLAW_WORKSPACE_DIR")
        return Workspace(self._settings.state / "workspace", "OpenClaw's default")

    def _at(self, said: str) -> Path:
        """Return the path that the configuration names: from the user's home, not from wherever we were started."""
        path = user_path(said)
        return path if path.is_absolute() else Path.home() / path


def normal(agent: str) -> str:
    """Return an agent's id as OpenClaw writes it: lower case, one word."""
    trimmed = agent.strip()
    if ID.fullmatch(trimmed):
        return trimmed.lower()
    return NOT_IN_ID.sub("-", trimmed.lower()).strip("-")[:64] or MAIN


def _entries(agents: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the configured agents by id, in either form that OpenClaw reads; the first of one id counts."""
    found: dict[str, Mapping[str, Any]] = {}
    roster = agents.get("entries", agents.get("list"))
    pairs = list(roster.items()) if isinstance(roster, dict) else []
    if isinstance(roster, list):
        pairs = [(str(entry.get("id") or ""), entry) for entry in roster if isinstance(entry, dict)]
    for name, entry in pairs:
        if isinstance(entry, dict):
            found.setdefault(normal(name), entry)
    return found


def _path(said: Any) -> str:
    return said.replace("\0", "").strip() if isinstance(said, str) else ""
