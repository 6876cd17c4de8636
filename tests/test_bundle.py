"""A bundle proves itself: a script that knows nothing of Limpet finds every change of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest

from lab import Lab, call, hook, text_result

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = Path(__file__).parents[1] / "docs" / "verify_bundle.py"
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hand out a memory with a large text and something forgotten."""
    lab = Lab(tmp_path_factory.mktemp("bundle"))
    lab.take([hook("gateway_start", {"port": 1}), *(call(f"c-{n}", 10 + n) for n in range(6))])
    lab.take([call("big", 90, result=text_result("é long text " * 900))], producer="later")
    assert lab.limpet("forget", "--yes", "call:c-2").status == 0
    done = lab.limpet("export", "--bundle", str(lab.folder / "out"), "--format", "parquet")
    assert done.status == 0, done.err
    return lab.folder / "out"


@pytest.fixture
def copy(handed_out: Path, tmp_path: Path) -> Path:
    """Return a copy of it, to be spoilt."""
    return shutil.copytree(handed_out, tmp_path / "out")


def checked(folder: Path, *seals: str) -> subprocess.CompletedProcess[str]:
    """Run the script by a Python that finds no package but its own."""
    command = [sys.executable, "-I", "-S", str(SCRIPT), str(folder), *seals]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def changed(folder: Path, name: str, change: Callable[[Lines], object]) -> None:
    """Change the lines of one of its files."""
    lines = [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
    change(lines)
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def swap(lines: Lines) -> None:
    """Put two records in each other's place."""
    lines[3], lines[4] = lines[4], lines[3]


def put_in(lines: Lines) -> None:
    """Put a record in, numbered as if it had always been there."""
    lines.insert(4, {**lines[4], "id": "0" * 32})
    for number, line in enumerate(lines, start=1):
        line["no"] = number


CHANGES: dict[str, Callable[[Lines], object]] = {
    **{
        name: lambda lines, name=name: lines[4].update({name: value_of(lines[4][name])})
        for name in ("no", "id", "source", "stream", "seq", "kind", "arrived_ms", "content", "nonce", "hash")
    },
    "removed": lambda lines: lines.pop(4),
    "the last removed": lambda lines: lines.pop(),
    "put in": put_in,
    "reordered": swap,
    "emptied": lambda lines: lines[4].update(content=None, nonce=None, leaf="0" * 64),
    "a forgotten one's column": lambda lines: lines[3].update(arrived_ms=1),
    "a forgotten one given bytes": lambda lines: lines[3].update(content="{}", nonce=""),
}


def value_of(value: Any) -> Any:
    """Return another value of the same sort."""
    return value + 1 if isinstance(value, int) else value[:-1] + ("0" if value[-1] != "0" else "1")


def test_a_bundle_that_nobody_changed_has_no_fault(handed_out: Path) -> None:
    """The script needs nothing but Python, and prints the head that the manifest names."""
    done = checked(handed_out)
    manifest = json.loads((handed_out / "manifest.json").read_text("utf-8"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"10 records, 0 faults; head 10:{manifest['head']['hash']}\n"


@pytest.mark.parametrize("what", CHANGES)
def test_each_change_of_a_record_is_found(copy: Path, what: str) -> None:
    """Each field of a record, and records that were removed, put in, moved or emptied."""
    changed(copy, "records.jsonl", CHANGES[what])
    assert checked(copy).returncode == 5


@pytest.mark.parametrize(
    "change", [lambda t: t[0].update(text="x"), lambda t: t.pop(), lambda t: t.append({"sha256": "0" * 64, "text": ""})]
)
def test_each_change_of_a_large_text_is_found(copy: Path, change: Callable[[Lines], object]) -> None:
    """Another text, a missing one, one more."""
    changed(copy, "texts.jsonl", change)
    assert checked(copy).returncode == 5


def test_a_seal_from_elsewhere_shows_a_chain_that_was_made_anew(copy: Path) -> None:
    """The chain must run through it, and not end before it."""
    lines = [json.loads(line) for line in (copy / "records.jsonl").read_text("utf-8").splitlines()]
    good = f"5:{lines[4]['hash']}"
    assert checked(copy, good).returncode == 0
    assert "not the one that the seal was made for" in checked(copy, f"5:{'0' * 64}").stdout
    assert "before record 99" in checked(copy, f"99:{'0' * 64}").stdout


def test_what_is_no_bundle_is_said(tmp_path: Path) -> None:
    """With exit status 2, and no traceback."""
    (tmp_path / "manifest.json").write_text('{"format": "other"}')
    assert [checked(folder).returncode for folder in (tmp_path, tmp_path / "none")] == [2, 2]
    assert "Traceback" not in checked(tmp_path).stderr


def test_its_events_are_those_of_the_memory_in_both_formats(handed_out: Path) -> None:
    """JSON lines and Parquet tell the same; nothing of what was forgotten is in it."""
    lines = [json.loads(line) for line in (handed_out / "events.jsonl").read_text("utf-8").splitlines()]
    rows = pyarrow.parquet.read_table(handed_out / "events.parquet").to_pylist()
    assert [row["id"] for row in rows] == [line["id"] for line in lines]
    assert [row["call"] for row in rows if row["type"] == "tool_call"] == ["c-0", "c-1", "c-3", "c-4", "c-5", "big"]
    assert rows[1]["time"].isoformat() == "2026-06-01T12:00:00.010000+00:00"
    assert not any(b"make c-2" in path.read_bytes() for path in handed_out.iterdir())


def test_a_folder_that_is_there_is_not_touched(lab: Lab) -> None:
    """And without a bundle there is no Parquet."""
    lab.take([call("c-1", 1)])
    (lab.folder / "out").mkdir()
    assert lab.limpet("export", "--bundle", str(lab.folder / "out")).status == 2
    assert list((lab.folder / "out").iterdir()) == []
    assert lab.limpet("export", "--format", "parquet").status == 2


def test_a_bundle_is_a_seal_for_the_memory_that_it_came_from(lab: Lab) -> None:
    """`limpet verify --against` takes the folder."""
    lab.take([call("c-1", 1), call("c-2", 2)])
    out = lab.folder / "out"
    assert lab.limpet("export", "--bundle", str(out)).status == 0
    assert lab.limpet("verify", "--json", "--against", str(out)).json["seals"] == 1
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    (out / "manifest.json").write_text(json.dumps({**manifest, "head": {"no": 2, "hash": "0" * 64}}))
    assert lab.limpet("verify", "--against", str(out)).status == 5
