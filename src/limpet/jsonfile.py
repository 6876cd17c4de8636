"""A small file of JSON: written whole or not at all, and read whatever stands in it. Not for what it means."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from limpet import clock, jsonline
from limpet.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> Any:
    """Return what the file holds, as `jsonline.parse` gives it. Raises OSError, and ValueError where it is no JSON."""
    return jsonline.parse(path.read_bytes())


def write(path: Path, value: Any) -> None:
    """Put a value in the place of what the file held, for its owner alone, synced. Raises Unavailable."""
    fresh = path.with_name(f".{path.name}.{clock.token(4)}")
    content = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(fd)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise Unavailable(f"{path} cannot be written: {error.strerror}.", "Make room, or check its owner.") from error
