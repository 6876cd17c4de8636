"""Whose an event is: which agent's, and which of the people who talk to that agent may be told of it. Reads only.

An *audience* is the owner, one peer of a direct chat, or one group. Sessions keep people apart by their keys, and so
does what is told at the start of a session: each audience hears of its own sessions alone. Not for rights.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet.model import Query
from limpet.runtimes.saying import agent_of_key, mapping, name

if TYPE_CHECKING:
    from limpet.model import Event
    from limpet.store.port import Store

NOBODY = frozenset({"", "unknown"})
OWNER = "owner"
UNTOLD = ""
"""The audience of what nobody is told of: it cannot be known whose it is."""

OWN_PLACES = ("cron:", "hook:", "dashboard:", "explicit:", "boot:", "heartbeat:", "tui:", "main:")
"""How the rest of a session key begins that is the owner's, besides every key of one word (`main`, `scratch-1`)."""

CHILDREN = ("subagent:", "acp:")
THREAD = re.compile(r":(?:thread|topic):.*", re.DOTALL)
DEEPEST = 8
"""So many subagents below each other are followed up to the session that set the first of them to work."""


def owner_of(event: Event) -> str:
    """Return whose event it is, as far as it says: its agent, or the one that a session key of it names; else ""."""
    child = name(mapping(event.details).get("child"))
    named = (event.agent, agent_of_key(event.session_key), agent_of_key(child))
    return next((one for one in named if one not in NOBODY), "")


def belongs(event: Event, agent: str, default: str) -> bool:
    """Whether it is this agent's; what names none is the default one's, a gateway's start and stop everybody's."""
    owner = owner_of(event)
    return owner == agent or (owner == "" and (agent == default or event.type == "gateway"))


def audience_of_key(session_key: str) -> str:
    """Return the audience of a session: OWNER, a peer or a group as the key names it; "" for a subagent's.

    The plugin has the same rule (`brief.js`). A key of a form that is not known is an audience of its own.
    """
    parts = session_key.split(":", 2)
    rest = parts[2] if len(parts) == 3 and parts[0] == "agent" else session_key
    rest = THREAD.sub("", rest)
    if rest.startswith(CHILDREN) or ":subagent:" in rest:
        return UNTOLD
    return OWNER if ":" not in rest or rest.startswith(OWN_PLACES) else rest


class Audiences:
    """Finds the audience of each event of one store."""

    def __init__(self, store: Store) -> None:
        """Look into this store for what an event does not say itself."""
        self._store = store
        self._of_key: dict[str, str] = {}
        self._keys: dict[str, str] = {}

    def of(self, event: Event) -> str:
        """Return the audience of an event; UNTOLD where it is not known whose it is."""
        key = event.session_key or (self._key_of(event.session) if event.session else "")
        if key:
            return self._audience(key)
        said_by_somebody = event.type in ("message", "delivery") and event.trust != "owner"
        return UNTOLD if said_by_somebody and "script" not in event.flags else OWNER

    def _key_of(self, session: str) -> str:
        """Return the key under which a session was, as any event of it says."""
        if session not in self._keys:
            asked = Query(filters=(("session", (session,), False),), limit=20, noise=True)
            found = (event.session_key for event in self._store.find.page(asked))
            self._keys[session] = next(filter(None, found), "")
        return self._keys[session]

    def _audience(self, key: str, deep: int = 0) -> str:
        if key not in self._of_key:
            found = audience_of_key(key)
            self._of_key[key] = found if found or deep >= DEEPEST else self._of_parent(key, deep)
        return self._of_key[key]

    def _of_parent(self, key: str, deep: int) -> str:
        """Return the audience of the session that set this one's subagent to work."""
        ids = sorted(self._store.events.with_keys([f"subagent subagent:{key}"]))
        parents = (event.session_key for event in map(self._store.find.by_id, ids) if event)
        parent = next((one for one in parents if one and one != key), "")
        return self._audience(parent, deep + 1) if parent else UNTOLD
