"""One pass over the lines of a transcript file, from record to record. Not for finding or opening files."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from limpet import days, jsonline
from limpet.model import Reject
from limpet.runtimes.lines import lines
from limpet.runtimes.openclaw.records import SOURCE, Place, Repeats, has_own_id, line_record, session_of, time_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from limpet.model import Json, Record
    from limpet.runtimes.lines import Line

SLACK_MS = 1000
"""A message may be a little older than the header of the file that it begins."""

COLD_KINDS = frozenset({"header", "event", "identity", "active", "index", "fts"})
"""What stands in a transcript that was moved out of the database: its rows, and how to put them back."""


class TranscriptReading:
    """Where a pass over a transcript stands: its offset `at`, how many `lines` it took, its `session`."""

    def __init__(self, name: str, place: Place, names: Mapping[str, Mapping[str, str]] | None = None) -> None:
        """Name the file, whose transcript it is where it does not say, and known sessions."""
        self.name = name
        self.at = 0
        self.lines = 0
        self.session = place.session
        self._began: Json = None
        self._header_read = True
        self._first_session = place.session
        self._agent = place.agent
        self._names = names or {}
        self._from = 0
        self._reopen: Callable[[], BinaryIO] | None = None
        self._repeats: Repeats | None = None

    def go_on(self, at: int, taken: int, session: str, reopen: Callable[[], BinaryIO]) -> None:
        """Go on behind what was taken before; `reopen` opens the file to count repeats in that."""
        self.at = self._from = at
        self.lines = taken
        self.session = session or self.session
        self._reopen = reopen
        self._header_read = at == 0

    def take(self, line: Line, arrived_ms: int) -> Record | Reject | None:
        """Return what a line holds: a record, why it cannot be read, or None for nothing to tell."""
        self.at = line.end
        if line.blank:
            return None
        self.lines += 1
        try:
            return self._read(line, arrived_ms)
        except ValueError as error:
            return Reject(SOURCE, f"{self.name} line {self.lines}", str(error), line.raw)

    def _read(self, line: Line, arrived_ms: int) -> Record | None:
        entry = entry_of(line)
        if "type" not in entry and entry.get("kind") in COLD_KINDS:
            return self._cold(entry, arrived_ms)
        invalid = jsonline.has_bad_utf8(line.raw)
        return self._record(entry, self.lines - 1, arrived_ms, invalid=invalid)

    def _cold(self, said: dict[str, Json], arrived_ms: int) -> Record | None:
        """Read a line of a transcript that was moved out of the database."""
        row = said.get("row")
        if said.get("kind") == "header":
            self.session = session_of(said, self.session)
        if said.get("kind") != "event" or not isinstance(row, dict):
            return None
        entry = jsonline.parse_text(str(row.get("event_json")))
        seq = row.get("seq")
        return self._record(entry, seq if isinstance(seq, int) else self.lines, arrived_ms)

    def _record(self, entry: Json, seq: int, arrived_ms: int, *, invalid: bool = False) -> Record:
        self.session = session_of(entry, self.session)
        place = Place(self._agent, self.session, {**self._names.get(self.session, {}), **self._copied(entry)})
        return line_record(place, entry, seq, self._repeat(entry), arrived_ms, invalid=invalid)

    def _copied(self, entry: Json) -> dict[str, str]:
        """Return when this session began, for an entry that is older: a resumed session repeats the one before."""
        if not self._header_read and self._reopen is not None:
            self._header_read = True
            with self._reopen() as file:
                self._began = next((_began(_entry_or_none(line)) for line in lines(file)), None)
        self._began = _began(entry) or self._began
        at, flag = days.instant(time_of(entry), 0, "UTC")
        began, unclear = days.instant(self._began, 0, "UTC")
        return {} if flag or unclear or at > began - SLACK_MS else {"sessionStartedAt": str(self._began)}

    def _repeat(self, entry: Json) -> int:
        if has_own_id(entry):
            return 0
        if self._repeats is None:
            self._repeats = self._counted_before()
        return self._repeats.count(self.session, entry)

    def _counted_before(self) -> Repeats:
        repeats = Repeats()
        if not self._from or self._reopen is None:
            return repeats
        session = self._first_session
        with self._reopen() as file:
            for line in lines(file):
                if line.end > self._from:
                    break
                entry = _entry_or_none(line)
                session = session_of(entry, session)
                repeats.count(session, entry)
        return repeats


def entry_of(line: Line) -> dict[str, Json]:
    """Return the JSON object on a line. Raises ValueError with a sentence when there is none."""
    if line.too_long:
        size = line.end - line.start
        raise ValueError(f"The line has {size:,} bytes; at most {jsonline.MAX_LINE:,} are read.")
    entry = jsonline.parse(line.raw)
    if not isinstance(entry, dict):
        raise ValueError("The line is no JSON object.")  # noqa: TRY004 - as any other line that cannot be read
    return entry


def _began(entry: Json) -> Json:
    """Return when the session of this header began; what is older in its file was copied from another (F17)."""
    return entry.get("timestamp") if isinstance(entry, dict) and entry.get("type") == "session" else None


def _entry_or_none(line: Line) -> Json:
    try:
        return entry_of(line)
    except ValueError:
        return None
