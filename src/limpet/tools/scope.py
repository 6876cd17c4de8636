"""Whose memory a door shows: everybody's, one agent's, or one conversation of it. Pure; every tool asks through it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet.errors import BadInput
from limpet.model import Query
from limpet.question import print_query

if TYPE_CHECKING:
    from limpet.model import Event

Filter = tuple[str, tuple[str, ...], bool]


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be seen: events of this `agent` ("": of all), and of these only of the conversation with this key."""

    agent: str = ""
    session_key: str = ""

    def narrowed(self, query: Query) -> Query:
        """Return the query, asking only for what may be seen; raises BadInput where it asks for another agent's."""
        for name, values, negated in query.filters:
            if name == "agent" and self.agent and (self.agent in values if negated else {*values} != {self.agent}):
                raise BadInput(
                    "Only your own agent's memory can be asked here.",
                    "Leave out agent: in the question. Its human can ask about all agents with: limpet ask",
                    "not_yours",
                )
        own = tuple(one for one in self._filters() if one not in query.filters)
        if not own:
            return query
        said = print_query(Query(filters=own))
        return replace(query, filters=(*query.filters, *own), understood=f"{query.understood} {said}".strip())

    def allows(self, event: Event) -> bool:
        """Whether this event may be seen."""
        own = not self.agent or event.agent == self.agent
        return own and (not self.session_key or event.session_key == self.session_key)

    def remark(self) -> str:
        """Return what an answer must say about what it leaves out, "" where it leaves nothing out."""
        if self.session_key:
            return "Only this conversation is shown: who asks here is not known to be the owner."
        return "Only what belongs to this agent is shown, nothing of other agents or of none." if self.agent else ""

    def _filters(self) -> tuple[Filter, ...]:
        agent: tuple[Filter, ...] = (("agent", (self.agent,), False),) if self.agent else ()
        return (*agent, ("session", (self.session_key,), False)) if self.session_key else agent
