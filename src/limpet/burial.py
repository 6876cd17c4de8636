"""What was forgotten and must not come back: by which keys, and within which times, a later witness is known. Pure.

A key alone would not do: providers give the same call id again, and the call of tomorrow is not the one that was
forgotten. So a tombstone holds for the time at which the thing happened, with some slack for another witness's clock.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from limpet.interpreter.occurrences import RECURRING
from limpet.interpreter.order import time_of
from limpet.model import COUNTED
from limpet.store.custody import Tombstone
from limpet.store.events import key_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from limpet.model import Fact

KEPT_FROM = "kept_from_ms"
"""The name under which it is kept from what time on records are kept: older ones are not taken in again."""

SLACK_MS = 60_000
RECURRING_SLACK_MS = 5_000
"""For what has a key that comes again."""


def tombstones_of(facts: Iterable[Fact], until_ms: int) -> Iterator[Tombstone]:
    """Yield the tombstones of one forgotten event, made of these facts; nothing that happens after `until_ms`."""
    facts = list(facts)
    keys = {key for fact in facts for key in keys_of(fact)} | set(_counted(facts))
    if not facts or not keys:
        return
    slack = RECURRING_SLACK_MS if facts[0].type in RECURRING else SLACK_MS
    since = min(time_of(fact) for fact in facts) - slack
    until = max(time_of(fact) + (fact.duration_ms or 0) for fact in facts) + slack
    yield from (Tombstone(key_hash(key), since, min(until, max(until_ms, since))) for key in sorted(keys))


def keys_of(fact: Fact) -> list[str]:
    """Return the keys by which a fact is known again; those of what the audit ledger counted are ours."""
    if fact.type != COUNTED:
        return [f"{fact.type} {key}" for key in fact.keys]
    if fact.call:
        return [f"{COUNTED} call {fact.call}"]
    return [f"{COUNTED} run {fact.run}"] if fact.run and fact.summary.startswith("agent.run") else []


def is_buried(fact: Fact, tombstones: Iterable[Tombstone]) -> bool:
    """Whether a fact tells of something that was forgotten: `tombstones` are those of its keys."""
    keys = {key_hash(key) for key in keys_of(fact)}
    return any(one.key in keys and one.from_ms <= time_of(fact) <= one.until_ms for one in tombstones)


def call_digest(call: str) -> str:
    """Return what OpenClaw's audit ledger keeps of a tool call's id."""
    return hashlib.sha256(call.encode("utf-8", "replace")).hexdigest()


def _counted(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield by which keys the audit ledger counts the call or the run that these facts tell of."""
    for fact in facts:
        if fact.type == "tool_call" and fact.call:
            yield f"{COUNTED} call {call_digest(fact.call)}"
        if fact.type == "run" and fact.run:
            yield f"{COUNTED} run {fact.run}"
