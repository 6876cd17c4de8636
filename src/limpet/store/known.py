"""The names of tools and agents that a store knows, looked up only when a question has a word that may be one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.store.port import Store

KINDS = ("tool", "agent")


class Known(Mapping[str, frozenset[str]]):
    """From each kind to its names."""

    def __init__(self, store: Store) -> None:
        """Look nothing up yet."""
        self._store = store
        self._found: dict[str, frozenset[str]] = {}

    def __getitem__(self, kind: str) -> frozenset[str]:
        if kind not in KINDS:
            raise KeyError(kind)
        if kind not in self._found:
            self._found[kind] = frozenset(self._store.find.names(kind))
        return self._found[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS)

    def __len__(self) -> int:
        return len(KINDS)
