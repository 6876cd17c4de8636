"""Named queries, read from `queries/*.sql`: the only place where SQL comes from."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

QUERIES = Path(__file__).with_name("queries")
MARK = "-- name:"


@functools.cache
def queries(dialect: str) -> Mapping[str, str]:
    """Return the queries of a dialect (`sqlite`, `postgres`) by name."""
    found: dict[str, str] = {}
    for block in (QUERIES / f"{dialect}.sql").read_text("utf-8").split(MARK)[1:]:
        name, _, text = block.partition("\n")
        found[name.strip()] = text.rstrip()
    return found
