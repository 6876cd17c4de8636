"""What was tried again: each attempt that went wrong, what came after it, and the success that made it good.

Over a whole session, however far apart. What is of one kind, `deeds.deed` says, as for the notes. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from limpet.deeds.deed import aim_of, deed_of
from limpet.store.finding import Attempt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TRIED = frozenset({"tool_call", "delivery", "model_call", "run"})
WRONG = frozenset({"failed", "timed_out", "interrupted", "cancelled", "blocked"})
REMEMBERED = 50_000
"""Of so many attempts is remembered what they were: the windows of a long timeline ask for them again and again."""

Aim = tuple[str, str]


@dataclass(slots=True)
class Ties:
    """What an event is tied to, by number, 0 for nothing.

    `again` is the next attempt, where that went wrong, too; `mended` the success; `after` what went wrong before it.
    """

    again: int = 0
    mended: int = 0
    after: int = 0


def ties(attempts: Iterable[Attempt]) -> Mapping[int, Ties]:
    """Return the ties of each attempt that has any; `attempts` are those of a session, oldest first."""
    found: dict[int, Ties] = defaultdict(Ties)
    waiting: dict[Aim, list[int]] = {}
    wanted: set[tuple[str, str]] = set()
    for one in attempts:
        wrong = one.status in WRONG
        # A success of what nobody waits for says nothing: most are, and what they were need not be found out.
        if one.type not in TRIED or not (wrong or (one.status == "succeeded" and (one.type, one.tool) in wanted)):
            continue
        aim = _aim(one)
        before = waiting.get(aim, [])
        if before:
            found[one.id].after = before[-1]
        if not wrong:
            for number in waiting.pop(aim, ()):
                found[number].mended = one.id
            continue
        if before:
            found[before[-1]].again = one.id
        waiting.setdefault(aim, []).append(one.id)
        wanted.add((one.type, one.tool))
    return found


def _aim(one: Attempt) -> Aim:
    if one.type == "tool_call":
        return _of_call(one.tool, one.summary, one.session, one.session_key)
    return one.type, one.session_key or one.session


@lru_cache(maxsize=REMEMBERED)
def _of_call(tool: str, summary: str, session: str, session_key: str) -> Aim:
    one = Attempt(0, "tool_call", "", tool, session, session_key, summary)
    return aim_of(one, deed_of(one))
