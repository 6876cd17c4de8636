"""A disk that fails at any step of forgetting, pruning, cleaning, copying, restoring, rebuilding, writing a note.

It ends as it was, or the next run finishes it; nothing is half, and the reason is one sentence.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab import Done, Lab, ended
from test_kills import NEW, OLD, WORKS, Work, copied, filled, holding

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).parent / "faultycommand.py"
KINDS = ("full", "eio", "sync", "readonly")
MORE = {
    "restore": Work(("restore", "--replace", "kept.db"), OLD + NEW, is_clean=False),
    "rebuild": Work(("rebuild",), OLD + NEW, is_clean=False),
    "note": Work(("note", "--date", "2026-06-01"), OLD + NEW, is_clean=False),
}
ALL = {**WORKS, **MORE}
MOST = int(os.environ.get("LIMPET_FAULT_STEPS", "12"))
"""Steps at which the disk fails, of each work, kind and how, in the long test."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make a memory as for kills, with a copy of it and a place for notes."""
    lab = filled(tmp_path_factory.mktemp("full"))
    (lab.state / "workspace").mkdir()
    assert lab.limpet("backup", "kept.db").status == 0
    return lab


def ran(lab: Lab, work: Work, kind: str, first: int, how: str) -> tuple[Done, int]:
    """Run the work on a disk that fails at this step; return how it ended and how many steps there were."""
    (lab.folder / "steps").unlink(missing_ok=True)
    done = ended(lab.python(str(PROGRAM), kind, str(first), how, *work.command, PYTHONPATH=str(PROGRAM.parent)))
    assert (lab.folder / "steps").exists(), done.err  # it came to its own end
    return done, int((lab.folder / "steps").read_text())


def steps_of(full: Lab, work: Work, kind: str, folder: Path) -> int:
    """Return how many steps the work takes where nothing fails."""
    with copied(full, folder) as lab:
        done, steps = ran(lab, work, kind, 0, "once")
        assert done.status == 0, done.err
        return steps


def check(full: Lab, name: str, kind: str, how: str, first: int, folder: Path) -> bool:
    """Let the disk fail at one step, then do the work again where it does not; return whether the fault was told."""
    work = ALL[name]
    with copied(full, folder) as lab:
        done, _ = ran(lab, work, kind, first, how)
        told = done.err + done.out
        assert "Traceback" not in told
        assert "Limpet made a mistake" not in told
        assert done.status == 0 or done.err.strip(), "it failed without a word"
        assert lab.verdict().faults == (), "half done"
        again = lab.limpet(*work.command)
        assert again.status == 0, again.err
        assert (lab.verdict().faults, len(lab.events("tool_call"))) == ((), work.left)
        assert not work.is_clean or holding(lab) == []
        assert [str(path) for path in lab.folder.rglob("*.half*")] == []
        if name == "note":
            (note,) = (lab.state / "workspace" / "memory").glob("*.md")
            assert note.read_text().count("<!-- limpet:begin") == 1
        return done.status != 0


def spread(steps: int, most: int) -> Iterator[int]:
    """Yield at most so many steps, the first and the last among them."""
    yield from sorted({1 + (steps - 1) * nth // max(1, most - 1) for nth in range(most)})


@pytest.mark.parametrize(("nth", "name"), list(enumerate(ALL)))
def test_a_disk_that_fails_in_the_middle_leaves_nothing_half(full: Lab, tmp_path: Path, nth: int, name: str) -> None:
    """One fault of each work, of another kind each time: it is told, and the next run goes through."""
    kind = KINDS[nth % len(KINDS)]
    steps = steps_of(full, ALL[name], kind, tmp_path / "copy")
    assert check(full, name, kind, "on", max(1, steps // 2), tmp_path / "copy")


@pytest.mark.soak
@pytest.mark.parametrize("how", ["once", "on"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_a_disk_that_fails_at_any_step_leaves_nothing_half(
    full: Lab, tmp_path: Path, name: str, kind: str, how: str
) -> None:
    """From the first step to the last."""
    steps = steps_of(full, ALL[name], kind, tmp_path / "copy")
    told = [check(full, name, kind, how, first, tmp_path / "copy") for first in spread(steps, MOST)]
    print(f"{name} {kind} {how}: {steps} steps, {len(told)} tried, {sum(told)} told")
    assert any(told) or how == "once"
