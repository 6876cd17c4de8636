"""The files in which briefs wait for the plugin: `<home>/brief/<agent>.json`, one an agent. Not for their words.

A file is JSON: `{"v": 1, "agent", "at" (epoch milliseconds), "of": {audience: {"own", "quoted", "told"}}, "other"}`;
`other` is for audiences that are not in it. It is replaced whole, its time says when it was last known to be true, and
it is never longer than LONGEST, which the plugin (`brief.js`) holds it to as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any

from limpet.errors import Unavailable
from limpet.folder import make_private

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from limpet.brief.composing import Brief
    from limpet.brief.gathering import Briefs

FOLDER = "brief"
WINDOWS = "windows"
"""The folder in it in which the plugin keeps what it has handed over, for a gateway that starts anew."""

OURS = frozenset({".json", ".new"})
LONGEST = 1 << 18
PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
WINDOW_MS = 30 * 86_400_000
"""What was handed over longer ago is deleted."""


def name_of(agent: str) -> str:
    """Return the file's name for an agent: its id where that can be a name, else a hash of it. Never a path."""
    hashed = f"~{hashlib.sha256(agent.encode('utf-8', 'replace')).hexdigest()[:32]}"
    return f"{agent if PLAIN.fullmatch(agent) else hashed}.json"


def content_of(briefs: Briefs) -> bytes:
    """Return what the file of an agent holds; audiences that there is no room for are left out, the oldest first."""
    of = {audience: _as_json(brief) for audience, brief in briefs.of.items()}
    while True:
        value = {"v": 1, "agent": briefs.agent, "at": briefs.at_ms, "of": of, "other": _as_json(briefs.other)}
        content = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        if len(content) <= LONGEST or not of:
            return content
        del of[next(iter(of))]


def _as_json(brief: Brief) -> dict[str, Any]:
    return {"own": brief.own, "quoted": brief.quoted, "told": [str(number) for number in brief.told]}


def write(home: Path, briefs: Briefs) -> None:
    """Put an agent's briefs in place, whole. Raises Unavailable."""
    try:
        folder = _folder(home)
        path = folder / name_of(briefs.agent)
        made = path.with_name(f"{path.name}.new")
        with contextlib.suppress(FileNotFoundError):
            made.unlink()
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(content_of(briefs))
        made.replace(path)
    except OSError as error:
        raise Unavailable(f"The brief of an agent cannot be written: {error}.", "Check the disk.") from error


def confirm(home: Path, agents: Collection[str]) -> bool:
    """Say of the files of these agents that they are still true; return whether all of them are there."""
    try:
        for agent in agents:
            os.utime(home / FOLDER / name_of(agent), follow_symlinks=False)
    except OSError:
        return False
    return True


def tidy(home: Path, agents: Collection[str], now_ms: int) -> None:
    """Delete the files of agents that are gone, and what was handed over long ago. Raises Unavailable."""
    kept = {name_of(agent) for agent in agents}
    try:
        folder = _folder(home)
        for path in folder.iterdir():
            if path.name not in kept and path.suffix in OURS and not path.is_dir():
                path.unlink(missing_ok=True)
        for path in (folder / WINDOWS).glob("*.json"):
            if now_ms - path.lstat().st_mtime * 1000 > WINDOW_MS:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"Old briefs cannot be deleted: {error}.", "Check the disk.") from error


def _folder(home: Path) -> Path:
    """Return the folder of the briefs, made if need be with the one for windows: a real one, of ours alone."""
    folder = home / FOLDER
    make_private(folder / WINDOWS)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise Unavailable(f"{folder} is not a folder of yours.", "Look at it, and move it away.")
    return folder
