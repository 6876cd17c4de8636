"""A real channel: what a person writes and what reaches them, as the plugin tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gateway import spooled
from gateway.telegram import Telegram
from limpet.runtimes.openclaw import setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gateway.gateway import Gateway

pytestmark = pytest.mark.gateway

ANSWERED, REFUSED = "DO:say(An answer.) please", "DO:say(You will never read this.)"
BLOCKED = "Forbidden: bot was blocked by the user"


@pytest.fixture(scope="module")
def told(new_gateway: Callable[..., Gateway]) -> Iterator[list[dict[str, Any]]]:
    """Let a person write twice and refuse the second answer; return the plugin's records."""
    with Telegram() as telegram:
        gateway = new_gateway({"channels": telegram.channels})
        setup.apply(setup.plan_setup(gateway.state, setup.plugin_folder(), None))
        home = gateway.state / "limpet"
        gateway.start()
        telegram.write(ANSWERED)
        gateway.wait_for(lambda: len(of(home, "message_sent")) == 1, "the first answer's outcome")
        telegram.refuse = BLOCKED
        telegram.write(REFUSED)
        gateway.wait_for(lambda: len(of(home, "message_sent")) == 2, "the second answer's outcome")
        gateway.stop()
        yield spooled.records(home)


def of(home: Path, hook: str) -> list[dict[str, Any]]:
    """Return the records of one hook so far."""
    return [record for record in spooled.records(home) if record["hook"] == hook]


def test_deliveries_are_told_with_their_outcome(told: list[dict[str, Any]]) -> None:
    """What reached the person, and what did not, with the reason."""
    sent = [r["event"] for r in told if r["hook"] == "message_sent"]
    assert [(e["content"], e["success"]) for e in sent] == [("An answer.", True), ("You will never read this.", False)]
    assert sent[0]["messageId"]
    assert sent[1]["error"]


def test_a_received_message_can_be_joined_with_the_one_that_was_written(told: list[dict[str, Any]]) -> None:
    """Both carry the channel's id of the message, though the host writes the same message more than once."""
    received = {r["event"]["messageId"]: r["event"]["content"] for r in told if r["hook"] == "message_received"}
    messages = [r["event"]["message"] for r in told if r["hook"] == "before_message_write"]
    users = [m for m in messages if m["role"] == "user"]
    assert {m["__openclaw"]["transport"]["messageId"]: m["content"] for m in users} == received
    assert len({m["idempotencyKey"] for m in users}) == len(received) == 2
