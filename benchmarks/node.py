"""OpenClaw's Node and OpenClaw itself, as the tests have them: pinned, from npm, kept."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "tools" / "openclaw.sh"


@functools.cache
def openclaw() -> Path | None:
    """Return the folder with OpenClaw, None where it cannot be had."""
    done = subprocess.run([SCRIPT], capture_output=True, encoding="utf-8", check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def node() -> Path | None:
    """Return OpenClaw's Node, None where it cannot be had."""
    folder = openclaw()
    return folder / "node_modules" / "node" / "bin" / "node" if folder else None
