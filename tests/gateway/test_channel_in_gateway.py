"""A real channel: what a person writes and what reaches them, as the plugin tells it, with and without a disk."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
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
IN_TROUBLE = "DO:say(Still here.)"
BLOCKED = "Forbidden: bot was blocked by the user"


@dataclass
class Told:
    """The plugin's records before, and after, its folder could not be written for a while; what reached the person."""

    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    reached: list[str]


@pytest.fixture(scope="module")
def told(new_gateway: Callable[..., Gateway]) -> Iterator[Told]:
    """Let a person write, refuse one answer, and take the plugin's folder away for one message."""
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
        telegram.refuse = ""
        before = spooled.records(home)
        shutil.rmtree(home)
        home.write_text("a file where the folder should be")
        telegram.write(IN_TROUBLE)
        gateway.wait_for(lambda: "Still here." in reached(telegram), "an answer without a disk")
        home.unlink()
        telegram.write(ANSWERED)
        gateway.wait_for(lambda: of(home, "message_sent"), "records again")
        gateway.stop()
        yield Told(before, spooled.records(home), reached(telegram))


def reached(telegram: Telegram) -> list[str]:
    """Return the texts that the person got."""
    return [message["text"] for message in telegram.sent]


def of(home: Path, hook: str) -> list[dict[str, Any]]:
    """Return the records of one hook so far."""
    return [record for record in spooled.records(home) if record["hook"] == hook]


def test_deliveries_are_told_with_their_outcome(told: Told) -> None:
    """What reached the person, and what did not, with the reason."""
    sent = [r["event"] for r in told.before if r["hook"] == "message_sent"]
    assert [(e["content"], e["success"]) for e in sent] == [("An answer.", True), ("You will never read this.", False)]
    assert sent[0]["messageId"]
    assert sent[1]["error"]


def test_a_received_message_can_be_joined_with_the_one_that_was_written(told: Told) -> None:
    """Both carry the channel's id of the message, though the host writes the same message more than once."""
    received = {r["event"]["messageId"]: r["event"]["content"] for r in told.before if r["hook"] == "message_received"}
    messages = [r["event"]["message"] for r in told.before if r["hook"] == "before_message_write"]
    users = [m for m in messages if m["role"] == "user"]
    assert {m["__openclaw"]["transport"]["messageId"]: m["content"] for m in users} == received
    assert len({m["idempotencyKey"] for m in users}) == len(received) == 2


def test_without_a_disk_the_agent_goes_on_and_the_loss_is_counted(told: Told) -> None:
    """The person gets the answer; what could not be written is told in number and time, and no number is missing."""
    assert "Still here." in told.reached
    loss = told.after[0]
    assert (loss["hook"], loss["event"]["reason"]) == ("limpet_dropped", "ENOTDIR")
    assert loss["event"]["dropped"] >= len(["message_received", "before_message_write", "agent_end"])
    assert told.before[-1]["ts"] <= loss["event"]["since_ms"] < loss["event"]["until_ms"] <= loss["ts"]
    last = told.before[-1]["seq"]
    assert [r["seq"] for r in told.after] == list(range(last + 1, last + 1 + len(told.after)))
