"""One brief, made on demand: what an agent would get now. Not for the files that wait for the plugin (`keeper`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from limpet import text
from limpet.belonging import OWNER, audience_of_key
from limpet.brief.composing import FEWEST_TOKENS, MOST_TOKENS, TOKENS
from limpet.brief.gathering import briefs_of
from limpet.brief.standing import Standing
from limpet.errors import BadInput, NotFound
from limpet.runtimes.openclaw.workspaces import Workspaces

if TYPE_CHECKING:
    from limpet.brief.composing import Brief
    from limpet.coverage import Watched
    from limpet.settings import Settings
    from limpet.store.port import Store


def of(
    settings: Settings, store: Store, watched: Watched, agent: str, session_key: str, now_ms: int | None,
    tokens: int,
) -> Brief:  # fmt: skip
    """Return the brief of an agent and a session. Raises BadInput, NotFound for an agent that nobody knows."""
    if tokens and not FEWEST_TOKENS <= tokens <= MOST_TOKENS:
        message = f"A brief has from {FEWEST_TOKENS} to {MOST_TOKENS:,} tokens."
        raise BadInput(message, "limpet brief --tokens 600")
    configured = Workspaces(settings).agents()
    agent = agent or configured[0]
    known = {*configured, *store.find.names("agent")}
    if agent not in known:
        raise NotFound(
            f"There is no agent {agent[:80]!r}.",
            f"Known: {', '.join(text.one_line(name, 80) for name in sorted(known)[:8])}.",
        )
    moment = replace(watched, now_ms=watched.now_ms if now_ms is None else now_ms)
    made = briefs_of(
        store, Standing.of(store, moment, moment.now_ms), agent,
        now_ms=moment.now_ms, zone=settings.zone, default=configured[0], tokens=tokens or TOKENS,
    )  # fmt: skip
    return made.of.get(audience_of_key(session_key) if session_key else OWNER, made.other)
