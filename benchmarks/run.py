"""One run of the benchmarks: where it works, on what, and how long. Not for what is measured."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from benchmarks.traffic import Traffic

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Run:
    """What every benchmark is given. `sizes` are the events of the small, the middle and the large database."""

    cache: Path
    scratch: Path
    quick: bool
    rounds: int
    sizes: tuple[int, int, int]

    @cached_property
    def traffic(self) -> Traffic:
        """The traffic, whose text is made when it is first asked for."""
        return Traffic(200_000 if self.quick else 4_000_000)

    def fresh(self, name: str) -> Path:
        """Return an empty folder of this name."""
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder
