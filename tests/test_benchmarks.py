"""The benchmarks run, and what they measure answers right. How fast anything is, is no matter of a test."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import telling  # noqa: E402
from benchmarks.ratio import Figure, interleaved, table  # noqa: E402
from benchmarks.traffic import BLOCK, Traffic  # noqa: E402

NUMBERS = {"1", "1b", "2", "4", "4+", "5", "6", "7", "8", "9", "10", "11"}


def test_every_target_is_measured_and_every_answer_is_right(tmp_path: Path) -> None:
    """`--quick` goes through all of them; it fails where an answer is not what was counted by hand."""
    result = tmp_path / "result.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--scratch", tmp_path, "--json", result]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(result.read_text("utf-8"))
    assert said["wrong"] == []
    assert {figure["number"] for figure in said["figures"]} - {"3"} == NUMBERS
    assert [path for path in tmp_path.iterdir() if path != result] == []


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    """Make the text once."""
    return Traffic(100_000)


def test_the_newest_events_are_the_same_whatever_lies_before(traffic: Traffic) -> None:
    """So that the same question has the same answer on every size."""
    few = list(traffic.events(BLOCK))
    assert few == list(islice(traffic.events(3 * BLOCK), 2 * BLOCK, None))
    assert few == list(Traffic(100_000).events(BLOCK))


def test_the_traffic_is_told_with_ids_of_its_own_and_in_order(traffic: Traffic) -> None:
    """Each line once, later ones later; a call's lines share its id."""
    lines = list(telling.lines(traffic.events(BLOCK), all_hooks=True))
    assert len({line["id"] for line in lines}) == len(lines)
    assert [line["ts"] for line in lines] == sorted(line["ts"] for line in lines)
    begun = {line["event"]["toolCallId"] for line in lines if line["hook"] == "before_tool_call"}
    assert begun == {line["event"]["toolCallId"] for line in lines if line["hook"] == "after_tool_call"}


def test_a_figure_is_the_median_of_its_rounds_and_says_whether_its_target_is_met() -> None:
    """Of costs 6 to 2, 9 to 3 and 8 to 2 the middle ratio is 3."""
    ours, theirs = iter([6.0, 9.0, 8.0]), iter([2.0, 3.0, 2.0])
    figure = interleaved("1", "a thing", lambda: next(ours), lambda: next(theirs), 3, at_most=3.5)
    assert (figure.median, figure.is_met, figure.target) == (3.0, True, "<= 3.5")
    assert table([figure, Figure("2", "b", [1.0], at_least=2.0)]).splitlines()[2:] == [
        "| 1 | a thing | 3 | 3 to 4 | 3 | <= 3.5 | yes |",
        "| 2 | b | 1 | 1 to 1 | 1 | >= 2 | **no** |",
    ]
