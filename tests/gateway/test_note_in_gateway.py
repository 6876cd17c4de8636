"""The notes of a real gateway's day: two agents, success, failure and a restart, in the workspaces that it uses itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from gateway import driving
from gateway.gateway import Gateway
from gateway.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.gateway

LATER = "2099-01-01T12:00:00+00:00"
"""A time at which every day of the test is over; the note's text does not depend on it."""

MODEL = {"model": {"primary": "scripted/scripted-1"}, "compaction": {"mode": "default"}}


@dataclass
class Noted:
    """A gateway whose day was noted while it ran, and what was seen of it."""

    gateway: Gateway
    cron: list[dict[str, Any]]
    found: list[dict[str, Any]]

    def limpet(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line on this gateway's state folder."""
        return subprocess.run(
            [sys.executable, "-m", "limpet", *arguments],
            env=self.gateway.env,
            capture_output=True,
            text=True,
            check=False,
        )

    def notes(self, workspace: str) -> str:
        """Return all notes of an agent's workspace."""
        files = sorted((self.gateway.state / workspace / "memory").glob("????-??-??.md"))
        return "\n".join(path.read_text("utf-8") for path in files)

    def jobs(self) -> list[dict[str, Any]]:
        """Return our jobs as OpenClaw's cron lists them."""
        listed = json.loads(self.gateway.openclaw("cron", "list", "--json"))["jobs"]
        return [job for job in listed if job.get("declarationKey") == "limpet-daily-note"]


def agents(state: Path) -> dict[str, Any]:
    """Return a configuration of two agents: the first in the default workspace, the second in its own."""
    entries = {"main": {"workspace": str(state / "workspace")}, "second": {}}
    return {"defaults": MODEL, "ownership": "explicit", "entries": entries}


@pytest.fixture(scope="module")
def noted(openclaw: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Noted]:
    """Drive a short day of two agents and note it, as a user does who lets OpenClaw's cron start the notes."""
    home = tmp_path_factory.mktemp("noted")
    more = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    sections = {"agents": agents(home / ".openclaw")}
    with Provider() as provider, Gateway(home, openclaw, provider, more, sections) as gateway:
        seen = Noted(gateway, [], [])
        assert seen.limpet("setup", "openclaw", "--yes").returncode == 0
        gateway.start()
        day = driving.Day(gateway, provider)
        day.say("DO:three")
        echo = 'DO:tool(exec {"command": "echo of-the-second"})'
        gateway.openclaw("agent", "--agent", "second", "--message", echo, check=False)
        day.wait_for_text("Tool done.")
        day.killed_in_a_call()
        for _ in range(2):
            done = seen.limpet("setup", "openclaw", "--yes", "--note-with", "openclaw-cron")
            assert done.returncode == 0, done.stderr
        seen.cron = seen.jobs()
        done = seen.limpet("note", "--now", LATER)
        assert done.returncode == 0, done.stdout + done.stderr
        found = gateway.openclaw("memory", "search", "--agent", "main", "--json", "nonexistent failed")
        seen.found = json.loads(found)["results"]
        yield seen


def test_two_agents_have_a_note_each(noted: Noted) -> None:
    """In each one's own workspace, what it did and nothing of the other's."""
    main, second = noted.notes("workspace"), noted.notes("workspace-second")
    assert ("echo A" in main, "of-the-second" in main) == (True, False), main
    assert ("echo A" in second, "of-the-second" in second) == (False, True), second


def test_the_note_tells_success_failure_and_the_restart(noted: Noted) -> None:
    """With the events that say so."""
    text = noted.notes("workspace")
    assert re.search(r"failed|without success", text), text
    assert "/nonexistent" in text
    assert re.search(r"restart|cut off|interrupted", text), text
    assert re.search(r"\[\d+(, \d+)*\]", text), text


def test_openclaws_memory_search_finds_a_sentence_of_it(noted: Noted) -> None:
    """Its own index, by words alone: there is no embedding model here."""
    snippets = [one["snippet"] for one in noted.found if re.fullmatch(r"memory/\d{4}-\d\d-\d\d\.md", one["path"])]
    assert any("/nonexistent" in snippet for snippet in snippets), noted.found


def test_the_cron_job_is_registered_once(noted: Noted) -> None:
    """Twice set up, one job: every night at three in the user's zone, a command without a model."""
    (job,) = noted.cron
    assert (job["schedule"]["expr"], job["schedule"]["tz"], job["payload"]["kind"]) == ("0 3 * * *", "UTC", "command")
    assert job["payload"]["argv"][-1] == "note"


def test_doctor_says_where_each_note_goes(noted: Noted) -> None:
    """Each agent's folder and what says so, and the cron job."""
    told = noted.limpet("doctor").stdout
    assert [
        str(noted.gateway.state / "workspace" / "memory") in told,
        str(noted.gateway.state / "workspace-second" / "memory") in told,
        "OpenClaw's cron" in told,
    ] == [True] * 3


def test_with_the_database_gone_the_notes_still_tell_the_story(noted: Noted, tmp_path: Path) -> None:
    """Moved away, with everything of Limpet's: the text files alone say what was done, what failed, what broke off."""
    shutil.copytree(noted.gateway.state / "workspace" / "memory", tmp_path / "memory")
    text = "\n".join(path.read_text("utf-8") for path in (tmp_path / "memory").glob("????-??-??.md"))
    assert [word in text for word in ("echo A", "/nonexistent", "sleep 600", "limpet show")] == [True] * 4, text


def test_removing_takes_the_job_away_and_leaves_the_notes(noted: Noted) -> None:
    """While the gateway runs: nothing of ours is left in OpenClaw's cron; what was written stays."""
    before = noted.notes("workspace")
    done = noted.limpet("remove", "openclaw", "--yes")
    assert (0, [], before) == (done.returncode, noted.jobs(), noted.notes("workspace")), done.stderr


def test_with_the_gateway_stopped_more_runs_change_no_byte(noted: Noted) -> None:
    """The last test of the file: when nothing happens any more, one run settles the notes, and no other changes them."""
    noted.gateway.stop()
    texts = []
    for arguments in (("--now", LATER), ("--now", LATER), ("--date", "today"), ("--now", LATER)):
        done = noted.limpet("note", *arguments)
        assert done.returncode == 0, done.stderr
        texts.append(noted.notes("workspace") + noted.notes("workspace-second"))
    assert texts[1:] == texts[:1] * 3
