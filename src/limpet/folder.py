"""Folders that only their owner may enter, from the first moment on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder that only its owner may enter, with those above it; raises OSError."""
    old = os.umask(0o077)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    finally:
        os.umask(old)
