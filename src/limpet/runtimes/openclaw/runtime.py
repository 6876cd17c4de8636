"""OpenClaw as a runtime: the sources that there are under its state folder now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.runtimes.openclaw import layout
from limpet.runtimes.openclaw.archives import ArchiveSource
from limpet.runtimes.openclaw.audit import AuditSource
from limpet.runtimes.openclaw.gatewaylog import LogSource
from limpet.runtimes.openclaw.transcripts import TranscriptSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from limpet.runtimes.runtime import Source


class OpenClaw:
    """The files of one OpenClaw installation. Sources keep their connections, so they are made once."""

    name = "openclaw"

    def __init__(self, state: Path) -> None:
        """Name the state folder; it may not exist, or not be OpenClaw's."""
        self._state = state
        self._agents: dict[str, list[Source]] = {}
        self._shared: list[Source] = []

    def sources(self) -> Sequence[Source]:
        """Return a source for each agent's transcripts, and those for the audit ledger and the gateway's log."""
        found = layout.agents(self._state)
        for agent in found:
            if agent not in self._agents:
                self._agents[agent] = self._of_agent(agent)
        if found and not self._shared:
            self._shared = [AuditSource(layout.state_database(self._state)), LogSource(self._state)]
        return [*(source for agent in found for source in self._agents[agent]), *self._shared]

    def left(self) -> int:
        """Return how many rows of transcripts the last looks found unread."""
        sources = (source for mine in self._agents.values() for source in mine)
        return sum(source.left for source in sources if isinstance(source, TranscriptSource))

    def _of_agent(self, agent: str) -> list[Source]:
        database = layout.transcript_database(self._state, agent)
        return [
            TranscriptSource(agent, database),
            ArchiveSource(agent, layout.sessions_folder(self._state, agent), database),
        ]
