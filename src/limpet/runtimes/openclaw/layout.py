"""Where OpenClaw keeps its files under a state folder, and what their names say. Not for their contents."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet import json5
from limpet.errors import BadInput
from limpet.settings import user_path

if TYPE_CHECKING:
    from collections.abc import Sequence

AGENT_DATABASE = "openclaw-agent.sqlite"

LOG_FOLDERS = (Path("/tmp/openclaw"), Path(f"/tmp/openclaw-{os.getuid()}"))  # noqa: S108 - OpenClaw's own choice
"""Where the gateway logs when the configuration names no file."""

_TRANSCRIPT = re.compile(
    r"(?P<session>.+?)(?:\.checkpoint\.[0-9a-f-]{36})?\.jsonl(?:\.(?:reset|deleted|bak)\.[^/]+?)?(?P<packed>\.zst)?",
    re.IGNORECASE,
)
_COLD = re.compile(r"[0-9a-f]{64}\.jsonl\.zst")
_ROLLING = re.compile(r"(openclaw(?:-[a-z0-9-]+?)?)-(?:\d{4}-\d{2}-\d{2}|YYYY-MM-DD)\.log")
_AGENT = re.compile(r"(?:^|/)agents/([^/]+)/(?:agent|sessions)(?:/|$)")


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """What the name of a transcript file says: whose session, and whether it is packed with zstd."""

    session: str
    packed: bool


def agents(state: Path) -> Sequence[str]:
    """Return the ids of the agents that have a folder, in order of name."""
    try:
        with os.scandir(state / "agents") as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return ()


def transcript_database(state: Path, agent: str) -> Path:
    """Return where the agent's sessions and transcripts are."""
    return state / "agents" / agent / "agent" / AGENT_DATABASE


def sessions_folder(state: Path, agent: str) -> Path:
    """Return where older transcripts and the archives of reset and deleted sessions are."""
    return state / "agents" / agent / "sessions"


def state_database(state: Path) -> Path:
    """Return the gateway's own database, with the audit ledger in it."""
    return state / "state" / "openclaw.sqlite"


def agent_of(path: Path) -> str:
    """Return the agent whose folder a file lies in, "" when the path does not say."""
    found = _AGENT.search(path.absolute().as_posix())
    return found[1] if found else ""


def transcript_file(name: str) -> TranscriptFile | None:
    """Return what a file's name says, or None when it is no transcript.

    `<session>.jsonl`, `<session>.checkpoint.<uuid>.jsonl`, and the archives
    `<session>.jsonl.reset.<time>[.<generation>][.zst]`, likewise `deleted` and `bak`.
    """
    found = _TRANSCRIPT.fullmatch(name)
    if found is None or name.endswith(".trajectory.jsonl"):
        return None
    return TranscriptFile(found["session"], found["packed"] is not None)


def is_cold(name: str) -> bool:
    """Return whether it is a transcript moved out of the database to save room (`sessions/cold/`)."""
    return _COLD.fullmatch(name) is not None


def log_files(state: Path, folders: Sequence[Path] = LOG_FOLDERS) -> Sequence[Path]:
    """Return the gateway's log files, oldest change first; rotated and dated ones included.

    The file is `logging.file` of the configuration, else one per day and profile in a folder under /tmp,
    which all gateways of a user without a profile share.
    """
    named = _named_log(state)
    if named is None:
        families = [(folder, _default_family(state)) for folder in folders]
    else:
        families = [(named.parent, _family(named.name))]
    found = [path for folder, names in families for path in _matching(folder, names)]
    return sorted(found, key=lambda path: (_changed_ns(path), path))


def _named_log(state: Path) -> Path | None:
    name = configuration(state).get("logging", {}).get("file")
    if not isinstance(name, str) or not name.strip():
        return None
    return user_path(name.strip())


def configuration(state: Path) -> dict[str, Any]:
    """Return `openclaw.json` where it can be read and has a `logging` object; {} where not."""
    try:
        config = json5.parse((state / "openclaw.json").read_text("utf-8")).value
    except (OSError, ValueError, BadInput):
        return {}
    return config if isinstance(config, dict) and isinstance(config.get("logging"), dict) else {}


def _default_family(state: Path) -> re.Pattern[str]:
    profile = state.name.partition(".openclaw-")[2]
    return _rolling("openclaw" + (f"-{_profile_segment(profile)}" if profile else ""))


def _profile_segment(profile: str) -> str:
    signs = {"-": "--", "_": "-0"}
    return "".join(signs.get(c) or (c if re.fullmatch("[a-z0-9]", c) else f"-1{c.lower()}") for c in profile)


def _family(name: str) -> re.Pattern[str]:
    rolling = _ROLLING.fullmatch(name)
    if rolling:
        return _rolling(rolling[1])
    stem, dot, end = name.rpartition(".")
    return re.compile(rf"{re.escape(stem or end)}(?:\.\d)?{re.escape(dot + end) if stem else ''}")


def _rolling(prefix: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(prefix)}-\d{{4}}-\d{{2}}-\d{{2}}(?:\.\d)?\.log")


def _matching(folder: Path, names: re.Pattern[str]) -> Sequence[Path]:
    try:
        return [path for path in folder.iterdir() if names.fullmatch(path.name)]
    except OSError:
        return ()


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
