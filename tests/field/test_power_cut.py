"""The power goes at any moment: nothing committed is lost, the file is whole, the chain verifies, recording goes on."""

from __future__ import annotations

import json
import random
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from field.test_durability import mixed
from lab import Lab, call, ended
from limpet.errors import Unavailable
from powercut import SECTOR, Disk, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator

POWERCUT = Path(__file__).parents[1] / "powercut.py"


@dataclass(frozen=True)
class Run:
    """A run that was written down: its lines, where its diary lies, how many steps that has."""

    lines: list[dict]
    diary: Path
    steps: int


def run_of(folder: Path, events: int, at_once: int) -> Run:
    """Record that many events through the file system that writes everything down."""
    lab = Lab(folder)
    lines = mixed(events)
    (folder / "lines").write_text("\n".join(json.dumps(line) for line in lines))
    done = ended(
        lab.python(str(POWERCUT), "diary", "lines", str(at_once), PYTHONPATH=str(POWERCUT.parent)), patience_s=1800
    )
    assert done.status == 0, done.err
    return Run(lines, folder / "diary", sum(1 for _ in steps_of(folder / "diary")))


def cuts(run: Run, count: int, seed: int) -> Iterator[tuple[int, int, Disk]]:
    """Yield (step, lines that were said to be committed, the disk) at that many moments, most of them between syncs."""
    chosen = set(random.Random(seed).sample(range(1, run.steps), count))
    disk, said = Disk(), 0
    for number, step in enumerate(steps_of(run.diary)):
        if number in chosen:
            yield number, said, disk
        disk.do(step)
        said = step[2] if step[0] == "said" else said


def laid_out(folder: Path, files: dict[str, bytes]) -> Lab:
    """Return an installation in which the disk holds these files."""
    lab = Lab(folder)
    lab.db.parent.mkdir(parents=True)
    for name, content in files.items():
        (lab.db.parent / name).write_bytes(content)
    return lab


def judge(lab: Lab, run: Run, said: int, goes_on: int) -> None:
    """Hold the database against what was committed before the cut; then let recording go on with all lines so far."""
    if said or lab.db.exists():
        with closing(apsw.Connection(str(lab.db))) as connection:
            assert connection.execute("PRAGMA integrity_check").get == "ok"
    if said:
        held = {record.seq for record in lab.records()}
        assert set(range(1, said + 1)) <= held
        assert lab.verdict().faults == ()
    lines = run.lines[: min(said + goes_on, len(run.lines))]
    lab.spool(lines)
    lab.drain()
    assert sorted(record.seq for record in lab.records()) == list(range(1, len(lines) + 1))
    assert lab.verdict().faults == ()
    with lab.recording() as recording:
        recording.store.index.check()
        assert recording.store.stale() == 0
    answers = [e for e in lab.events("message") if e.summary.startswith("answer")]
    assert len(lab.found("answer")) == min(1000, len(answers))


def cut_at(run: Run, folder: Path, count: int, goes_on: int) -> int:
    """Cut the power at `count` moments, each once with a disk that forgets and once with one that tears."""
    for number, said, disk in cuts(run, count, seed=count):
        for how, chance in (("forgotten", None), ("torn", random.Random(number))):
            lab = laid_out(folder / f"{number}-{how}", disk.left(chance))
            judge(lab, run, said, goes_on)
    return count


def test_a_power_cut_at_any_moment_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    """600 events in 60 commits, cut at 25 moments; a disk that forgets what was not synced, and one that tears it."""
    run = run_of(tmp_path, 600, 12)
    assert cut_at(run, tmp_path / "cuts", 25, goes_on=10_000) == 25


@pytest.mark.soak
def test_two_hundred_power_cuts_in_a_run_of_twenty_thousand_events(tmp_path: Path) -> None:
    """20,000 events in 400 commits, cut at 200 moments, in both ways."""
    run = run_of(tmp_path, 20_000, 60)
    assert cut_at(run, tmp_path / "cuts", 200, goes_on=200) == 200


def test_a_disk_that_lies_about_syncing_is_noticed(tmp_path: Path) -> None:
    """The test itself can fail: on a disk whose syncs do nothing, what was committed is gone."""
    run = run_of(tmp_path, 100, 12)
    disk, said = Disk(), 0
    for step in steps_of(run.diary):
        said = step[2] if step[0] == "said" else said
        if step[0] != "sync":
            disk.do(step)
    lab = laid_out(tmp_path / "lied", disk.left())
    assert said == len(run.lines)
    with pytest.raises(Unavailable, match="no Limpet database yet"):
        judge(lab, run, said, 10_000)


def cut_segment(content: bytes, synced: int, chance: random.Random) -> bytes:
    """Return what a disk holds of a segment of which so many bytes were synced: sectors of the rest, or zeros there."""
    kept = bytearray(content[: chance.randint(synced, len(content))])
    for at in range(synced, len(kept), SECTOR):
        if chance.random() < 0.4:
            end = min(at + SECTOR, len(kept))
            kept[at:end] = bytes(end - at)
    return bytes(kept)


def test_of_a_spool_that_lost_power_everything_synced_is_recorded_once(lab: Lab) -> None:
    """200 segments, each cut behind another byte: what was synced is there, and no half of a line is taken for one."""
    told: set[str] = set()
    certain: set[str] = set()
    for number in range(200):
        chance = random.Random(number)
        lines = [{**call(f"c-{number}-{n}", n), "id": f"{number:016x}{n:016x}"} for n in range(30)]
        raws = [json.dumps(line).encode() + b"\n" for line in lines]
        content = b"".join(raws)
        synced = chance.randint(0, len(content))
        path = lab.spool([cut_segment(content, synced, chance)], f"producer-{number}")
        assert path.exists()
        told |= {f"c-{number}-{n}" for n in range(30)}
        certain |= {f"c-{number}-{n}" for n in range(30) if len(b"".join(raws[: n + 1])) <= synced}
    lab.drain()
    found = [event.call for event in lab.events("tool_call")]
    assert len(found) == len(set(found))
    assert certain <= set(found) <= told
    assert (lab.left_in_spool(), lab.verdict().faults) == ([], ())
