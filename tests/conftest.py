"""What every test may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab import Lab

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Return an installation of its own, in an empty folder."""
    return Lab(tmp_path)


SHARED = {"test_plugin_in_gateway.py": "silent_day", "test_recorded_day.py": "silent_day"}
"""Files that share what is costly to make, a gateway's whole day."""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one file together, in one process: they share fixtures. The costly files begin first."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(SHARED.get(item.path.name, item.path.stem)))
    items.sort(key=lambda item: item.path.parent.name != "gateway")
