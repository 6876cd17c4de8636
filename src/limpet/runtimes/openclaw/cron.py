"""OpenClaw's cron as the clock that starts `limpet note`: a command job, made and taken away through the gateway.

For whoever runs no sidecar; with one, both find the notes done or wait for each other. Not for the plugin: `setup.py`.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from limpet import clock
from limpet.errors import Unavailable
from limpet.runtimes.foreign import ForeignDatabase
from limpet.runtimes.openclaw import layout
from limpet.runtimes.openclaw.workspaces import Workspaces
from limpet.settings import for_child

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import apsw

    from limpet.settings import Settings

JOB = "limpet-daily-note"
"""The job's name, and the key by which OpenClaw knows that it has it already."""

TIMEOUT_S = 60.0
NEEDS = {"cron_jobs": ("job_id", "declaration_key")}
FIND = "SELECT job_id FROM cron_jobs WHERE declaration_key = ?"
TRIES = 5
RUNNING = "Start the gateway (openclaw gateway run), then run this again."


def job_of(state: Path) -> str:
    """Return the id of the job in the gateway's database, "" where there is none or where it cannot be read."""
    database = ForeignDatabase(layout.state_database(state), NEEDS)
    if not database.exists():
        return ""
    try:
        for _ in range(TRIES):
            found = database.look(_found, clock.now_ms())
            if found is not None:
                return found
            clock.sleep(0.1)
    except Unavailable:
        return ""
    return ""


def register(settings: Settings, command: Sequence[str]) -> None:
    """Have the gateway run this command every night; one that is there already is brought up to date.

    Raises Unavailable where there is no `openclaw` on PATH, or no gateway that answers.
    """
    hour, minute = map(int, settings.note_at.split(":"))
    when = ["--cron", f"{minute} {hour} * * *", "--tz", settings.zone, "--exact"]
    # OpenClaw wants an owner, and where there are several agents it guesses none; a command asks none of them anything.
    owner = Workspaces(settings).agents()[0]
    named = ["--name", JOB, "--declaration-key", JOB, "--description", "Limpet's daily notes", "--agent", owner]
    what = ["--command-argv", json.dumps(list(command)), *_environment(settings), "--no-deliver", "--json"]
    _openclaw(settings, "add", *when, *named, *what)


def unregister(settings: Settings, job: str) -> None:
    """Delete the job. Raises as `register` does."""
    _openclaw(settings, "rm", job, "--json")


def _found(database: apsw.Connection) -> str:
    row = database.execute(FIND, (JOB,)).fetchone()
    return str(row[0]) if row else ""


def _environment(settings: Settings) -> Sequence[str]:
    """Return what the command must be told to settle the same values, as arguments."""
    said = {"OPENCLAW_STATE_DIR": str(settings.state)}
    said |= {"LIMPET_HOME": str(settings.home)} if settings.origins["home"].kind != "default" else {}
    said |= {"LIMPET_DB": str(settings.db)} if settings.origins["db"].kind not in ("default", "file") else {}
    return [part for name, value in said.items() for part in ("--command-env", f"{name}={value}")]


def _openclaw(settings: Settings, *arguments: str) -> None:
    command = ["openclaw", "cron", *arguments]
    environment = {**for_child(settings), "NO_COLOR": "1"}
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except FileNotFoundError as error:
        raise Unavailable("There is no program openclaw on PATH.", "Put it there, then run this again.") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"openclaw cron {arguments[0]} did not answer: {error}.", RUNNING) from error
    if done.returncode != 0:
        why = _why(done.stdout, done.stderr)
        raise Unavailable(f"openclaw cron {arguments[0]} failed: {why}", RUNNING if "not reachable" in why else "")


def _why(out: bytes, err: bytes) -> str:
    """Return the first line of what it complained about."""
    try:
        said: Any = json.loads(out)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        said = err.decode("utf-8", "replace").strip() or "it said nothing."
    return str(said).strip().partition("\n")[0]
