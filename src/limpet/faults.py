"""A fault of ours: it goes to a log, for whoever mends it, and becomes one sentence. Not for users' errors."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

from limpet.errors import LimpetError

if TYPE_CHECKING:
    from pathlib import Path


def kept(home: Path, problem: Exception) -> LimpetError:
    """Write into `faults.log` in this home how the fault came about; return it as a sentence and a hint."""
    log = home / "faults.log"
    try:
        fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "a", encoding="utf-8", errors="backslashreplace") as file:  # noqa: PTH123 - a descriptor
            file.writelines(traceback.format_exception(problem))
        where = f"Please report it with the end of {log}."
    except OSError:
        where = "".join(traceback.format_exception(problem))
    return LimpetError(f"Limpet made a mistake ({type(problem).__name__}: {problem}).", where)
