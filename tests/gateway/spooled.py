"""Reads a spool as the plugin left it, line by line, believing nothing. Not the product's reader: its judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def segments(home: Path) -> list[Path]:
    """Return every segment of every producer below Limpet's home, oldest first within a producer."""
    found = (home / "spool").glob("*/*.jsonl")
    return sorted(found, key=lambda path: (path.parent.name, int(path.stem)))


def records(home: Path) -> list[dict[str, Any]]:
    """Return every record; raises ValueError at a line that is not JSON or not whole."""
    lines = [line for path in segments(home) for line in path.read_bytes().splitlines(keepends=True)]
    torn = [line for line in lines if not line.endswith(b"\n")]
    if torn:
        raise ValueError(f"torn lines: {torn}")
    return [json.loads(line) for line in lines]


def by_producer(home: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the records of each producer, in the order of the file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records(home):
        found.setdefault(record["producer"], []).append(record)
    return found
