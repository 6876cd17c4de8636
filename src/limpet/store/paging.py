"""The whole ledger, page by page: for whoever must look at every record. Not for finding one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.store.port import Ledger
    from limpet.store.records import Stored


def pages(records: Ledger, size: int = 1000) -> Iterator[list[Stored]]:
    """Yield the whole ledger, oldest first, in pages."""
    no = 0
    while page := records.after(no, size):
        yield page
        no = page[-1].record.no
