"""Which reading belongs to which kind of record: every runtime's tables, in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.runtimes.native import NATIVE
from limpet.runtimes.openclaw.entries import ENTRIES
from limpet.runtimes.openclaw.hooks import HOOKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from limpet.model import Fact
    from limpet.runtimes.saying import Saying

READINGS: Mapping[str, Callable[[Saying], Sequence[Fact]]] = {**NATIVE, **HOOKS, **ENTRIES}


def of(kind: str) -> Callable[[Saying], Sequence[Fact]] | None:
    """Return how a kind of record is read, or None for a kind that nobody knows."""
    return READINGS.get(kind)
