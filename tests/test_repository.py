"""The repository around the code: it can be built anywhere, names no place, and lets no test be skipped unseen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "requirements"
OF_A_PLACE = re.compile(
    r"(?<![\w.~-])/(?:root|work)/"
    r"|\b(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b"
    r"|--(?:extra-)?index[-]url|--find[-]links|\b[\w-]+\.(?:internal|corp|intranet|lan)\b"
)
"""Home folders, private addresses and package indexes of the machine on which somebody happens to work."""


def files() -> list[Path]:
    """Return every file that is in the repository, or would be with the next commit."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    found = [path for name in listed if name and (path := ROOT / name).is_file()]
    assert len(found) > 100
    return found


def report(folder: Path, skipped: str) -> Path:
    """Write a test report with one test that passed and one that was skipped for this reason."""
    case = f'<testcase classname="tests.test_a" name="test_two"><skipped message="{skipped}"/></testcase>'
    text = f'<testsuites><testsuite><testcase classname="tests.test_a" name="test_one"/>{case}</testsuite></testsuites>'
    (folder / "python.xml").write_text(text, "utf-8")
    return folder


def checked(folder: Path, allowed: str) -> int:
    """Run tools/check_skips.py on these reports and this list, and return its status."""
    (folder / "allowed.txt").write_text(allowed, "utf-8")
    code = (
        "import sys; from pathlib import Path; import check_skips; sys.exit(check_skips.main(*map(Path, sys.argv[1:])))"
    )
    command = [sys.executable, "-c", code, str(folder), str(folder / "allowed.txt")]
    return subprocess.run(command, cwd=ROOT / "tools", capture_output=True, check=False).returncode


def test_no_file_names_the_place_where_it_was_written() -> None:
    """No home folder, private address or package index of a workplace stands in any file."""
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files()
        if path.suffix not in {".gz", ".zst", ".db", ".sqlite", ".bin"}
        for match in OF_A_PLACE.finditer(path.read_text("utf-8", "replace"))
    ]
    assert found == []


def test_every_requirement_is_exact() -> None:
    """Each line of requirements/ names one version, or another of these files."""
    for path in REQUIREMENTS.glob("*.txt"):
        lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
        assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+|-r run\.txt", line)] == []


def test_everything_that_is_declared_is_pinned() -> None:
    """Each package that pyproject.toml asks for has its exact version in requirements/."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    text = "\n".join(path.read_text("utf-8") for path in REQUIREMENTS.glob("*.txt"))
    pinned = set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE))
    declared = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["dev"]
    asked = {re.match(r"[\w-]+", line)[0] for line in [*declared, *project["build-system"]["requires"]]}  # type: ignore[index]
    assert asked <= pinned


def test_the_wheel_holds_all_that_the_program_reads(tmp_path: Path) -> None:
    """Queries, migrations, the demo's day and OpenClaw's plugin are in it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    package = {str(path.relative_to(ROOT / "src")) for path in files() if path.is_relative_to(ROOT / "src")}
    plugin = {f"limpet/{path.relative_to(ROOT)}" for path in (ROOT / "integrations" / "openclaw").glob("*.js*")}
    assert package | plugin <= held


@pytest.mark.parametrize(
    ("files_of_it", "most"),
    [
        ("index.js capture.js spool.js", 300),
        ("recall.js brief.js", 120),
        ("supervise.js alarm.js", 140),
    ],
    ids=["what records", "what answers", "what watches"],
)
def test_the_plugin_stays_small(files_of_it: str, most: int) -> None:
    """Each part has fewer lines than that, so that it can be read at one sitting."""
    folder = ROOT / "integrations" / "openclaw"
    paths = [path for name in files_of_it.split() if (path := folder / name).exists()]
    assert 0 < sum(len(path.read_text("utf-8").splitlines()) for path in paths) < most


def test_every_file_of_the_plugin_is_counted() -> None:
    """None lies outside the bounds above."""
    known = {"index.js", "capture.js", "spool.js", "supervise.js", "recall.js", "brief.js", "alarm.js"}
    assert {path.name for path in (ROOT / "integrations" / "openclaw").glob("*.js")} <= known


def test_the_scripts_can_be_run() -> None:
    """Every shell script is executable, and its shell finds no fault in its form."""
    scripts = [*(ROOT / "tools").glob("*.sh"), ROOT / ".ci" / "run"]
    assert [script.name for script in scripts if not os.access(script, os.X_OK)] == []
    assert [s.name for s in scripts if subprocess.run(["bash", "-n", str(s)], check=False).returncode] == []


def test_ci_does_what_the_readme_says() -> None:
    """The README's test command is the one that .ci/run runs, with lint and the check of skipped tests."""
    ci = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert "make test " in (ROOT / "README.md").read_text("utf-8")
    assert [line for line in ci if line in ("make test", "make lint")] == ["make test", "make lint"]
    assert ".venv/bin/python tools/check_skips.py" in ci


def test_every_allowed_skip_has_its_reason() -> None:
    """Each line of tests/allowed_skips.txt is a pattern and a reason."""
    text = (ROOT / "tests" / "allowed_skips.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"\S+ \| \S.*", line)] == []


@pytest.mark.parametrize(
    ("allowed", "status"),
    [
        ("tests.test_a::* | no npm", 0),
        ("tests.test_a::* | no disk", 1),
        ("tests.test_b::* | no npm", 1),
        ("# tests.test_a::* | no npm", 1),
        ("tests.test_a::*", 1),
    ],
)
def test_a_skipped_test_needs_a_listed_reason(tmp_path: Path, allowed: str, status: int) -> None:
    """A skip passes only where one line names both the test and its reason."""
    assert checked(report(tmp_path, "there is no npm here"), allowed) == status


def test_no_report_is_a_failure(tmp_path: Path) -> None:
    """Where no test was run, nothing can be fine."""
    assert checked(tmp_path, "") == 1
