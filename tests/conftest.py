"""What every test may ask for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

from lab import Lab

if TYPE_CHECKING:
    from pathlib import Path

    from xdist.remote import Producer


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Return an installation of its own, in an empty folder."""
    return Lab(tmp_path)


SHARED = {"test_plugin_in_gateway.py": "silent_day", "test_recorded_day.py": "silent_day"}
"""Files that share what is costly to make, a gateway's whole day."""


class ByFile(LoadScopeScheduling):
    """Keeps the tests of one file together in one process, since they share fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return SHARED.get(file.rpartition("/")[2], file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile:
    """Share the tests out by file."""
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the costly files begin first."""
    items.sort(key=lambda item: item.path.parent.name != "gateway")


UMASK = os.umask(0o022)
os.umask(UMASK)


def pytest_runtest_teardown() -> None:
    """Put the umask back: a sidecar that runs in a test's own process sets it for good."""
    os.umask(UMASK)
