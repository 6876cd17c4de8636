"""A file of JSON lines given to `limpet import`: hook lines, transcripts, or both. Not for finding files."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from limpet.errors import BadInput
from limpet.model import Record, Reject
from limpet.runtimes.lines import lines
from limpet.runtimes.openclaw import layout, records
from limpet.runtimes.openclaw.reading import TranscriptReading, entry_of
from limpet.runtimes.unpacking import DAMAGE, packing, unpacked
from limpet.spool.line import LONGEST_ID, record_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from limpet.model import Json
    from limpet.runtimes.lines import Line

SOURCE = "import"

LOOK_LINES = 200
"""How many lines are looked at to find one that says what the file is."""

GROWING_MS = 60_000
"""A file that was written this short a time ago may still be being written."""

ENTRY_TYPES = frozenset(
    {
        "assistant",
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "event_msg",
        "label",
        "leaf",
        "message",
        "model_change",
        "reset",
        "response_item",
        "session",
        "session_info",
        "session_meta",
        "summary",
        "system",
        "thinking_level_change",
        "turn_context",
        "user",
    }
)
"""Types of entries by which a transcript is known: OpenClaw's, Claude's and codex's."""

FROM_TRANSCRIPTS = frozenset({"transcript_line", "session_window"})


def kind_of_lines(path: Path) -> str:
    """Return `hooks` or `transcript`, by the first line that says so.

    Raises BadInput when none does, and OSError when the file cannot be read.
    """
    try:
        with unpacked(path) as file:
            for line in islice(lines(file), LOOK_LINES):
                kind = _kind_of_line(line)
                if kind:
                    return kind
    except DAMAGE as error:
        raise BadInput(f"{path} is damaged: {error}.", "Unpack it by hand to see what is left of it.") from error
    raise _unknown(path)


def _kind_of_line(line: Line) -> str:
    entry = _entry(line)
    if isinstance(entry.get("hook"), str):
        return "hooks"
    return "transcript" if is_entry(entry) else ""


def is_entry(entry: dict[str, Json]) -> bool:
    """Return whether an object looks like an entry of a transcript, in any of the dialects."""
    cold = entry.get("kind") == "header" and "sessionId" in entry
    return cold or (isinstance(entry.get("type"), str) and entry["type"] in ENTRY_TYPES)


def _entry(line: Line) -> dict[str, Json]:
    try:
        return entry_of(line)
    except ValueError:
        return {}


def _unknown(path: Path) -> BadInput:
    with unpacked(path) as file:
        head = file.read(4096)
    hint = "JSON lines of hooks or transcripts, the script's database, and folders of these can be imported."
    if not head.strip():
        return BadInput(f"{path} is empty.", hint)
    if b"\0" in head:
        return BadInput(f"{path} is a binary file that Limpet does not know.", hint)
    if head.lstrip().startswith(b"["):
        return BadInput(f"{path} is one JSON array, not JSON lines.", "Put each of its elements on a line.")
    return BadInput(f"{path} holds neither hook lines nor a transcript.", hint)


def told_by_lines(path: Path, kind: str, now_ms: int) -> Iterator[tuple[Record | Reject, int]]:
    """Give what each line tells, or why it cannot be read, and its length in bytes; `kind` as found above.

    A last line that is half there is left alone while the file is being written: it will be whole the next time.
    """
    reading = LineFile(path, kind, now_ms)
    try:
        with unpacked(path) as file:
            for line in lines(file):
                told = reading.take(line)
                if told is None or (isinstance(told, Reject) and not line.whole and _is_growing(path, now_ms)):
                    continue
                yield told, line.end - line.start
    except DAMAGE as error:
        yield Reject(SOURCE, path.name, f"The file is damaged: {error}.", b""), 0


def _has_id(body: Json) -> bool:
    given = body.get("id")
    return isinstance(given, str) and 0 < len(given) <= LONGEST_ID


def _is_growing(path: Path, now_ms: int) -> bool:
    return not packing(path) and path.stat().st_mtime_ns // 1_000_000 > now_ms - GROWING_MS


class LineFile:
    """One pass over a file: hook lines as the spool has them, and transcript entries.

    A hook line without an id gets one from its bytes and its how-many-th repeat in the file; one without a producer
    belongs to a stream that the file's first line names. So the same file, wherever it lies and whatever it is
    called, gives the same records.
    """

    def __init__(self, path: Path, kind: str, now_ms: int) -> None:
        """Start at the beginning of a file of this kind."""
        named = layout.transcript_file(path.name)
        session = named.session if named else path.name.partition(".")[0]
        self._transcript = TranscriptReading(path.name, records.Place(layout.agent_of(path), session))
        self._kind = kind
        self._name = path.name
        self._now_ms = now_ms
        self._number = 0
        self._stream = ""
        self._seen: Counter[bytes] = Counter()

    def take(self, line: Line) -> Record | Reject | None:
        """Return what a line tells, why it cannot be read, or None where it is blank."""
        if line.blank:
            return None
        self._number += 1
        self._stream = self._stream or "import:" + hashlib.sha256(line.raw).hexdigest()[:12]
        if self._kind == "transcript" and not self._is_hook(line):
            return self._transcript.take(line, self._now_ms)
        return self._take_hook(line)

    def _take_hook(self, line: Line) -> Record | Reject | None:
        try:
            if line.too_long:
                entry_of(line)
            return self._hook_record(line.raw)
        except (BadInput, ValueError) as error:
            if is_entry(_entry(line)):
                return self._transcript.take(line, self._now_ms)
            reason = error.message if isinstance(error, BadInput) else str(error)
            return Reject(SOURCE, f"{self._name} line {self._number}", reason, line.raw)

    def _hook_record(self, raw: bytes) -> Record:
        record = record_of(raw, self._stream, self._number, self._now_ms)
        repeat = 0 if _has_id(record.body) else self._repeats(raw)
        if repeat:
            record = record_of(raw, self._stream, self._number, self._now_ms, repeat)
        if record.kind in FROM_TRANSCRIPTS and "source" not in record.body:
            return replace(record, source=records.SOURCE)
        return record

    def _repeats(self, raw: bytes) -> int:
        digest = hashlib.sha256(raw.strip()).digest()[:12]
        self._seen[digest] += 1
        return self._seen[digest] - 1

    @staticmethod
    def _is_hook(line: Line) -> bool:
        return b'"hook"' in line.raw and isinstance(_entry(line).get("hook"), str)
