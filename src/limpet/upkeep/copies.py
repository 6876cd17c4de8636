"""Copies of a memory: made while it is recording, checked before they count, put back only on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from limpet.upkeep.sealing import BACKUP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.memory import Memory


def known_copies(memory: Memory) -> Iterator[Path]:
    """Yield the files that hold copies of this memory, as far as Limpet knows: backups, and what a take-over left."""
    db = memory.settings.db
    yield from sorted(db.parent.glob(f"{db.name}.before-limpet-*"))
    for seal in memory.store.custody.seals():
        if seal.what == BACKUP and Path(seal.place).is_file():
            yield Path(seal.place)
