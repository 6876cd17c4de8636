"""What the gateway's own log tells that no hook does: failures, starts and stops. Not a copy of the log."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, BinaryIO

from limpet import jsonline
from limpet.errors import Unavailable
from limpet.model import Batch, Record, Reject
from limpet.runtimes.lines import Line, lines
from limpet.runtimes.openclaw import layout
from limpet.runtimes.openclaw.records import record_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from limpet.model import Json

SOURCE = "openclaw.log"

BATCH_RECORDS = 500
BATCH_BYTES = 16 << 20
"""Most lines are passed over after one look at their bytes, so a batch may read far."""

PAUSE_MS = 500
HEAD_BYTES = 1024

WORTH_READING = re.compile(rb'"(?:ERROR|FATAL|WARN)"|\\"subsystem\\":\\"gateway')
"""What stands in every line that can be of interest; all others are not even parsed."""

TOLD_ELSEWHERE = frozenset({"agent", "agents", "tools", "cron", "diagnostic"})
"""Parts of the gateway whose errors hooks and transcripts tell, with more."""

WATCHED = re.compile(
    r"channels?|plugins?|hooks|internal-hooks|gateway|outbound|delivery|restart|gmail-watcher"
    r"|main-session-restart-recovery|clickclack|discord|feishu|googlechat|imessage|irc|line|matrix|mattermost"
    r"|msteams|nextcloud-talk|nostr|qqbot|raft|signal|slack|sms|synology-chat|telegram|tlon|twitch|voice-call"
    r"|wechat|wecom|whatsapp|yuanbao|zalo|zalouser"
)
"""Parts of the gateway whose warnings of a failure are kept: channels, plugins, start-up."""

FAILURE = re.compile(
    r"fail|error|could not|cannot|unable|refus|denied|unauthori[sz]ed|disconnect|crash|invalid|conflict"
    r"|time[d -]?out|gave up|giving up|orphan|interrupted|not start",
    re.IGNORECASE,
)
BREAKDOWN = re.compile(r"gateway failed|failed to start|uncaught|unhandled|plugin load failed", re.IGNORECASE)
"""What an error must say that names no part of the gateway: other commands print theirs into the log too."""

TURN = re.compile(r"starting\.\.\.|(?:gateway )?ready|received SIG\w+.*|shutdown completed.*", re.IGNORECASE)


class LogSource:
    """The gateway's log files.

    The cursor has an item for each file: the first bytes of it stand for its name, which rotation changes, and the
    value is the offset behind the last line that was looked at.
    """

    key = SOURCE

    def __init__(self, state: Path, folders: Sequence[Path] = layout.LOG_FOLDERS) -> None:
        """Name the state folder, whose configuration says where the log is; else it is in `folders`."""
        self._state = state
        self._folders = folders
        self._whole: dict[str, Json] | None = None
        self._looked_ms = 0

    def read(self, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        """Return the next lines that are worth keeping, newest file first; whole lines only.

        Raises Unavailable when a log may not be read.
        """
        if self._whole == cursor and 0 <= now_ms - self._looked_ms < PAUSE_MS:
            return Batch()
        taken = _Taken(cursor, now_ms)
        for path in reversed(layout.log_files(self._state, self._folders)):
            taken.take(path)
        gone = dict.fromkeys(() if taken.is_full else cursor.keys() - taken.seen)
        batch = Batch(tuple(taken.records), {**taken.moved, **gone}, taken.is_full, tuple(taken.rejects))
        after = {item: at for item, at in {**cursor, **batch.cursor}.items() if at is not None}
        self._whole, self._looked_ms = None if batch.more else after, now_ms
        return batch


class _Taken:
    """What one look takes, at most a batch."""

    def __init__(self, cursor: Mapping[str, Json], now_ms: int) -> None:
        self.records: list[Record] = []
        self.rejects: list[Reject] = []
        self.moved: dict[str, Json] = {}
        self.seen: set[str] = set()
        self._cursor = cursor
        self._now_ms = now_ms
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        return len(self.records) + len(self.rejects) >= BATCH_RECORDS or self._bytes >= BATCH_BYTES

    def take(self, path: Path) -> None:
        """Take the next lines of a file; one that went away is passed over."""
        try:
            with path.open("rb") as file:
                item = _name_of(file)
                if item and not self.is_full:
                    self.seen.add(item)
                    self._take_from(file, item)
        except FileNotFoundError:
            return
        except OSError as error:
            sentence = f"The gateway's log {path} cannot be read: {error.strerror}."
            raise Unavailable(sentence, "Check its owner and permissions.", "unreadable") from error

    def _take_from(self, file: BinaryIO, item: str) -> None:
        before = int(self._cursor.get(item) or 0)
        file.seek(before)
        at = before
        for line in lines(file, before):
            if not line.whole or self.is_full:
                break
            at = line.end
            self._bytes += line.end - line.start
            if not line.too_long and WORTH_READING.search(line.raw):
                self._add(line, item)
        if at != before:
            self.moved[item] = at

    def _add(self, line: Line, item: str) -> None:
        try:
            said = jsonline.parse(line.raw)
        except ValueError as error:
            self.rejects.append(Reject(SOURCE, f"log at byte {line.start}", str(error), line.raw))
            return
        event = event_of(said) if isinstance(said, dict) else None
        if event is not None:
            self.records.append(_record(event, item, line, self._now_ms))


def event_of(said: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return what a line of the log tells, or None when that is not worth keeping.

    `level`, `subsystem` ("" when none is named), `message`, `time`, and where given `agent_id`, `session_id`,
    `channel`, `trace` and `data`, what was logged beside the message.
    """
    meta = said.get("_meta")
    level = str(meta.get("logLevelName", "")) if isinstance(meta, dict) else ""
    subsystem = _subsystem(meta.get("name")) if isinstance(meta, dict) else ""
    message = _message(said)
    if not _is_worth(level, subsystem, message):
        return None
    event = {"level": level.lower(), "subsystem": subsystem, "message": message, "time": said.get("time")}
    more = {name: said[name] for name in ("agent_id", "session_id", "channel") if said.get(name)}
    data = [value for name, value in said.items() if name.isdigit() and isinstance(value, dict | list)]
    return {**event, **more, **({"data": data} if data else {})}


def _is_worth(level: str, subsystem: str, message: str) -> bool:
    part = subsystem.partition("/")[0]
    if level in {"ERROR", "FATAL"}:
        return bool(BREAKDOWN.search(message)) if not part else part not in TOLD_ELSEWHERE
    if level == "WARN":
        return WATCHED.fullmatch(part) is not None and FAILURE.search(message) is not None
    return part == "gateway" and TURN.fullmatch(message) is not None


def _subsystem(name: Json) -> str:
    """Return the part of the gateway that a logger's name names; the name itself is JSON where it names one."""
    try:
        named = jsonline.parse_text(name) if isinstance(name, str) else None
    except ValueError:
        return ""
    if not isinstance(named, dict):
        return ""
    return str(named.get("subsystem") or named.get("module") or "")


def _message(said: Mapping[str, Json]) -> str:
    message = said.get("message")
    if isinstance(message, str):
        return message
    words = [value for name, value in said.items() if name.isdigit() and isinstance(value, str)]
    return " ".join(word for word in words if not word.startswith('{"subsystem"'))


def _record(event: Mapping[str, Json], item: str, line: Line, now_ms: int) -> Record:
    session = event.get("session_id")
    ctx = {"agentId": event.get("agent_id"), _session_name(session): session, "channel": event.get("channel")}
    body = {
        "hook": "gateway_log",
        "ts": event["time"],
        "ctx": {name: value for name, value in ctx.items() if value},
        "event": event,
    }
    identity = jsonline.canonical([SOURCE, item, line.start]) + line.raw
    return Record(record_id(identity), SOURCE, f"log/{item}", line.start, "gateway_log", body, now_ms)


def _session_name(session: Json) -> str:
    return "sessionKey" if isinstance(session, str) and ":" in session else "sessionId"


def _name_of(file: BinaryIO) -> str:
    """Return what stands for a file under any name: a digest of its first line; "" while that is being written."""
    head = file.readline(HEAD_BYTES)
    if not head.endswith(b"\n") and len(head) < HEAD_BYTES:
        return ""
    return hashlib.sha256(head).hexdigest()[:16]
