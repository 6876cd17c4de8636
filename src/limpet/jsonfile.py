"""A small file of JSON that is written whole or not at all. Not for reading it: who writes it knows what to expect."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from limpet import clock
from limpet.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path


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
