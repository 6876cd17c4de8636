"""The only reader of time and randomness. Everything else is handed values, or one of these functions."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path


def now_ms() -> int:
    """Return the wall clock as epoch milliseconds, UTC."""
    return time.time_ns() // 1_000_000


def stamp() -> str:
    """Return this second as a part of a file's name, UTC: 20260504T101500Z."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def monotonic_s() -> float:
    """Return seconds that never run backwards, for waiting and measuring."""
    return time.monotonic()


def sleep(seconds: float) -> None:
    """Wait that many seconds."""
    time.sleep(seconds)


def nonce() -> bytes:
    """Return 16 random bytes."""
    return os.urandom(16)


def token(size: int = 16) -> str:
    """Return `size` random bytes as hex."""
    return secrets.token_hex(size)


def uuid7(at_ms: int | None = None) -> str:
    """Return a UUID version 7 (RFC 9562, 5.7) of this instant: ids that sort by time of birth."""
    at = now_ms() if at_ms is None else at_ms
    value = (at & (1 << 48) - 1) << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def boot_id() -> str:
    """Return the id of this boot of the machine, or "" where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def process_start(pid: int) -> str | None:
    """Return when the process started, in clock ticks since boot; None if there is no such process.

    A process id alone is not enough: it is given again (field case F66). Field 22 of proc_pid_stat(5).
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def pid_space() -> str:
    """Return the name of this process's space of process ids (a container has its own), or "" where there is none."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
