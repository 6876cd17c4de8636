"""An alarm on the desktop, for real: `notify-send`, a D-Bus session, a notification service, and what arrives there."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from desktop import Desktop
from lab import Lab, until
from limpet import messenger
from limpet.alarm import Message
from test_alarm import configure
from test_breaks import Plugin, gateway
from test_watch import STOPPED

if TYPE_CHECKING:
    import pytest

ODD = "Limpet: it's «broken» <b>&amp; $(rm -rf /) `x`\n--urgency=low"


def test_one_alarm_and_its_all_clear_reach_the_desktop(lab: Lab) -> None:
    """Once, however often the sidecar looks; critical, with the sentence; and once that all is well again."""
    configure(lab, "alarm_after_s = 1")
    with Desktop(lab.folder) as desktop, gateway(lab), lab.sidecar(**desktop.environment):
        plugin = Plugin(lab)
        plugin.beat("limpet_stop")
        until(lambda: desktop.notified, "the alarm")
        until(lambda: lab.limpet("status", "--json").json["told"], "it is written down")
        plugin.beat("limpet_start")
        until(lambda: len(desktop.notified) == 2, "the all-clear")
        assert lab.limpet("status", "--json").json["told"] == []
    clear = f"Limpet: all is well again. It was: {STOPPED.removeprefix('Limpet: ')}"
    assert desktop.notified == [
        {"app": "Limpet", "title": "Limpet", "text": said, "urgency": 2} for said in (STOPPED, clear)
    ]


def test_a_dead_sidecar_is_told_on_the_desktop_by_the_plugin(lab: Lab) -> None:
    """By the way that the sidecar left in `ways.json` while it lived."""
    configure(lab, "alarm_after_s = 1")
    with Desktop(lab.folder) as desktop:
        with lab.sidecar(**desktop.environment):
            until((lab.home / "ways.json").exists, "the ways are written down")
        ways = json.loads((lab.home / "ways.json").read_text())["ways"]
        assert ways[0][0] == "notify-send"
        done = subprocess.run(
            [*ways[0], "Limpet: it is dead."], env={**lab.environment, **desktop.environment}, check=False
        )
        assert done.returncode == 0
        assert [one["text"] for one in desktop.notified] == ["Limpet: it is dead."]


def test_any_sentence_arrives_as_it_is_and_says_nothing_to_notify_send(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No shell reads it, and it is no option."""
    with Desktop(lab.folder) as desktop:
        for name, value in desktop.environment.items():
            monkeypatch.setenv(name, value)
        assert messenger.deliver(lab.settings, messenger.ways(lab.settings, None), Message(ODD)) == "notify-send"
        assert [(one["text"], one["urgency"]) for one in desktop.notified] == [(ODD, 2)]


def test_without_a_service_on_the_bus_the_next_way_is_taken(lab: Lab) -> None:
    """`notify-send` says that it failed, and so the agent's own session is told: a program that fails, here."""
    ways = [
        ["notify-send", "--app-name=Limpet", "Limpet"],
        [sys.executable, "-c", "import sys; sys.exit(len(sys.argv) != 2)"],
    ]
    assert messenger.deliver(lab.settings, ways, Message("x")) == sys.executable
