"""`limpet setup openclaw --note-with openclaw-cron` where OpenClaw cannot be asked; with it: tests/gateway."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from limpet.runtimes.openclaw import cron, setup

if TYPE_CHECKING:
    from lab import Lab

SETUP = ("setup", "openclaw", "--yes", "--note-with", "openclaw-cron")


@pytest.fixture
def openclaw(lab: Lab) -> Lab:
    """Return an installation with an empty configuration of OpenClaw."""
    lab.state.mkdir(parents=True)
    (lab.state / "openclaw.json").write_text("{}\n")
    return lab


def test_a_dry_run_says_what_cron_would_do(openclaw: Lab) -> None:
    """When, in which zone and under which name; nothing is changed."""
    (openclaw.state / "limpet").mkdir()
    (openclaw.home / "config.toml").write_text('note_at = "04:30"\nzone = "Asia/Kathmandu"\n')
    done = openclaw.limpet(*SETUP, "--dry-run")
    assert (done.status, setup.is_installed(openclaw.state)) == (0, False)
    assert "at 04:30 (Asia/Kathmandu), as the job limpet-daily-note" in done.out


def test_without_openclaw_on_the_path_the_rest_is_set_up_and_that_is_said(openclaw: Lab) -> None:
    """The plugin is in; the job is not, and the error says what to do."""
    done = openclaw.limpet(*SETUP, PATH="/nonexistent")
    assert (done.status, setup.is_installed(openclaw.state)) == (4, True)
    assert "There is no program openclaw on PATH." in done.err


def test_set_up_already_the_job_alone_is_registered(openclaw: Lab) -> None:
    """A second set-up has nothing to change in the configuration, and asks OpenClaw for the job all the same."""
    openclaw.limpet("setup", "openclaw", "--yes")
    before = (openclaw.state / "openclaw.json").read_bytes()
    program = openclaw.folder / "bin" / "openclaw"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/asked"\n')
    program.chmod(0o755)
    done = openclaw.limpet(*SETUP, PATH=f"{program.parent}:/usr/bin:/bin")
    asked = (openclaw.folder / "asked").read_text().splitlines()
    assert (done.status, before) == (0, (openclaw.state / "openclaw.json").read_bytes()), done.err
    assert asked[:6] == ["cron", "add", "--cron", "0 3 * * *", "--tz", "UTC"]
    assert asked[asked.index("--command-argv") + 1].endswith('"note"]')


def test_what_openclaw_complains_of_is_passed_on(openclaw: Lab) -> None:
    """The first line of it, and a hint where no gateway runs."""
    program = openclaw.folder / "openclaw"
    program.write_text("#!/bin/sh\necho 'Gateway not reachable at ws://x.' >&2\necho more >&2\nexit 1\n")
    program.chmod(0o755)
    done = openclaw.limpet(*SETUP, PATH=f"{openclaw.folder}:/usr/bin:/bin")
    assert done.status == 4
    assert "openclaw cron add failed: Gateway not reachable at ws://x.\nhint:  Start the gateway" in done.err


def test_a_job_is_found_in_the_gateways_database(openclaw: Lab) -> None:
    """By its key, without a gateway; and where there is no such table, there is no job."""
    database = openclaw.state / "state" / "openclaw.sqlite"
    database.parent.mkdir()
    assert cron.job_of(openclaw.state) == ""
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE cron_jobs (job_id TEXT, declaration_key TEXT)")
        connection.execute("INSERT INTO cron_jobs VALUES ('j-1', 'limpet-daily-note'), ('j-2', NULL)")
    connection.close()
    assert cron.job_of(openclaw.state) == "j-1"


def test_removing_says_that_a_job_stays_where_no_gateway_answers(openclaw: Lab) -> None:
    """The plugin is out; the job is still there, which is an error, and another run tries again."""
    openclaw.limpet("setup", "openclaw", "--yes")
    test_a_job_is_found_in_the_gateways_database(openclaw)
    done = openclaw.limpet("remove", "openclaw", "--yes", PATH="/nonexistent")
    assert (done.status, setup.is_installed(openclaw.state)) == (4, False)
    assert "Delete the job limpet-daily-note from OpenClaw's cron." in done.out
