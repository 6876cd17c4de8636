"""SIGKILL in the middle of forgetting, pruning, cleaning, copying: the next run finishes it, or it was never begun."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, call, hook, kill, text_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = 86_400_000
LATER = str(NOON + 400 * DAY)
SECRET = "zebrafish"
OLD, NEW = 620, 40


@dataclass(frozen=True)
class Work:
    """A command that changes everything, the calls that are left after it, and whether no secret is."""

    command: tuple[str, ...]
    left: int
    is_clean: bool


WORKS = {
    "forget": Work(("forget", "--yes", SECRET), NEW, is_clean=True),
    "prune": Work(("prune", "--older-than", "365", "--yes", "--now", LATER), NEW, is_clean=True),
    "redact": Work(("redact", "--again"), OLD + NEW, is_clean=True),
    "backup": Work(("backup", "--replace", "copy.db"), OLD + NEW, is_clean=False),
}


def filled(folder: Path) -> Lab:
    """Return a memory of old calls that say a secret, and new ones that do not."""
    lab = Lab(folder)
    old = (call(f"old-{n}", n, result=text_result(f"{SECRET} {n}")) for n in range(OLD))
    lab.take([hook("gateway_start", {}), *old, *(call(f"new-{n}", 399 * DAY + n) for n in range(NEW))])
    (lab.home / "config.toml").write_text(f'[secrets]\n"fish" = "{SECRET}"\n')
    return lab


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make such a memory once."""
    return filled(tmp_path_factory.mktemp("full"))


@contextmanager
def copied(full: Lab, folder: Path) -> Iterator[Lab]:
    """Give a copy of it, and take it away again."""
    shutil.copytree(full.folder, folder, dirs_exist_ok=True)
    yield Lab(folder)
    shutil.rmtree(folder)


def seconds_of(full: Lab, work: Work, folder: Path) -> float:
    """Return how long the work takes when nobody kills it."""
    with copied(full, folder) as lab:
        began = time.monotonic()
        assert lab.limpet(*work.command).status == 0
        return time.monotonic() - began


def killed(lab: Lab, work: Work, after_s: float) -> None:
    """Begin the work and kill it after a while."""
    process = lab.start(*work.command)
    time.sleep(after_s)
    kill(process)


def holding(lab: Lab) -> list[str]:
    """Return the files of the memory, and the records, in which the secret still stands."""
    files = [path.name for path in lab.db.parent.iterdir() if SECRET.encode() in path.read_bytes()]
    return files + [str(record.no) for record in lab.records() if SECRET in str(record)]


def check(full: Lab, name: str, folder: Path, kills: int) -> None:
    """Kill the work at many places from its beginning to its end, and finish it each time."""
    work = WORKS[name]
    whole = seconds_of(full, work, folder)
    for nth in range(1, kills + 1):
        with copied(full, folder) as lab:
            killed(lab, work, whole * nth / (kills + 1))
            assert lab.limpet(*work.command).status == 0
            assert (lab.verdict().faults, len(lab.events("tool_call"))) == ((), work.left)
            assert not work.is_clean or holding(lab) == []
            assert [path.name for path in lab.folder.glob("*.half*")] == []


@pytest.mark.parametrize("name", ["forget", "redact"])
def test_what_was_killed_is_finished_by_the_next_run(full: Lab, tmp_path: Path, name: str) -> None:
    """The chain is whole, nothing else is gone, and nothing of it is left."""
    check(full, name, tmp_path / "copy", kills=2)


@pytest.mark.soak
@pytest.mark.parametrize("name", WORKS)
def test_what_was_killed_at_forty_places_is_finished_by_the_next_run(full: Lab, tmp_path: Path, name: str) -> None:
    """The same, more finely."""
    check(full, name, tmp_path / "copy", kills=40)


def test_a_sidecar_finishes_what_a_killed_command_began(full: Lab, tmp_path: Path) -> None:
    """Nobody has to remember it."""
    work = WORKS["forget"]
    whole = seconds_of(full, work, tmp_path / "copy")
    with copied(full, tmp_path / "copy") as lab:
        for nth in range(20):  # until one is hit after it has begun
            killed(lab, work, whole * (0.4 + nth * 0.03))
            with lab.store() as store:
                if store.state.meta("erasing"):
                    break
                if store.records.stored([2])[0].content is None:
                    pytest.fail("it was finished before it could be killed")
        with lab.sidecar():
            assert lab.asked(op="drain", seconds=10)["ok"]
        assert (lab.verdict().faults, len(lab.events("tool_call")), holding(lab)) == ((), NEW, [])


def test_a_restore_that_is_killed_leaves_the_old_memory_or_the_new_one(full: Lab, tmp_path: Path) -> None:
    """And the next run goes through; no log lies beside a database that it does not belong to."""
    with copied(full, tmp_path / "copy") as lab:
        assert lab.limpet("backup", "copy.db").status == 0
        lab.take([call("late", 399 * DAY + 999)], producer="later")
        for tenths in (3, 6, 9, 12):
            process = lab.start("restore", "--replace", "copy.db")
            time.sleep(tenths / 10)
            kill(process)
            assert len(lab.events("tool_call")) in (OLD + NEW, OLD + NEW + 1)
        assert lab.limpet("restore", "--replace", "copy.db").status == 0
        assert (lab.verdict().faults, len(lab.events("tool_call"))) == ((), OLD + NEW)
