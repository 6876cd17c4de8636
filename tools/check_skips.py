"""Fails when a test was skipped that `tests/allowed_skips.txt` does not list with its reason. Reads `build/reports`.

A line of the list is `<pattern of test ids> | <words of the reason>`; lines that begin with `#` say why.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent


class Skip(NamedTuple):
    """A test that was not run, and the reason that it gave."""

    test: str
    reason: str


def skips_of(report: Path) -> Iterator[Skip]:
    """Yield what a JUnit report says was skipped; an expected failure counts, too."""
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - our own test runners wrote it
        for skip in case.iter("skipped"):
            name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
            yield Skip(name, (skip.get("message") or skip.text or "no reason given").strip())


def allowed_in(text: str) -> Sequence[Skip]:
    """Return the (pattern, reason) pairs of the list."""
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition(" | ") for line in lines if line and not line.startswith("#")]
    return [Skip(pattern.strip(), reason.strip()) for pattern, _, reason in pairs]


def is_allowed(skip: Skip, allowed: Sequence[Skip]) -> bool:
    """Whether a line of the list names both the test and the reason."""
    return any(fnmatchcase(skip.test, a.test) and a.reason and a.reason.lower() in skip.reason.lower() for a in allowed)


def main(reports: Path, allowed_file: Path) -> int:
    """Print every skipped test; return 1 when one of them is not allowed, or when there is no report."""
    found = sorted(reports.glob("*.xml"))
    if not found:
        print(f"No test report in {reports}: were the tests run?", file=sys.stderr)
        return 1
    allowed = allowed_in(allowed_file.read_text("utf-8"))
    skips = [skip for report in found for skip in skips_of(report)]
    wrong = [skip for skip in skips if not is_allowed(skip, allowed)]
    for skip in skips:
        print(f"{'NOT ALLOWED' if skip in wrong else 'allowed'}  {skip.test}: {skip.reason}")
    print(f"{len(skips)} tests skipped, {len(wrong)} of them without a line in {allowed_file.name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(ROOT / "build" / "reports", ROOT / "tests" / "allowed_skips.txt"))
