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
