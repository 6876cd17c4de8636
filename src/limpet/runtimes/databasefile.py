"""A database given to `limpet import`: the 150-line script's, or an agent's transcripts. Not for our own."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from limpet import clock
from limpet.errors import BadInput, Unavailable
from limpet.runtimes.foreign import ForeignDatabase
from limpet.runtimes.openclaw import layout
from limpet.runtimes.openclaw.transcripts import TranscriptSource
from limpet.runtimes.script import COLUMNS, script_record
from limpet.runtimes.unpacking import packing, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from limpet.model import Batch, Json, Record

T = TypeVar("T")

MAGIC = b"SQLite format 3\0"
PAGE = 500
TRIES, TRY_AGAIN_S = 50, 0.1

THINGS = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"
SCRIPT_COLUMNS = "SELECT name FROM pragma_table_info('events')"
ROWS = """
SELECT rowid, id, timestamp, session_id, event_type, summary, details, tags
FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?
"""
ROWS_AS_BYTES = """
SELECT rowid, CAST(id AS BLOB), CAST(timestamp AS BLOB), CAST(session_id AS BLOB), CAST(event_type AS BLOB),
       CAST(summary AS BLOB), CAST(details AS BLOB), CAST(tags AS BLOB)
FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?
"""
"""The same for a page in which a text is no UTF-8, which the plain one cannot give."""


def is_database(path: Path) -> bool:
    """Return whether a file, packed or not, is a SQLite database."""
    with unpacked(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def kind_of_database(path: Path) -> str:
    """Return `script` or `openclaw`. Raises BadInput when it is neither, Unavailable when it cannot be read."""
    with _plain(path) as plain:
        return _look(ForeignDatabase(plain, {}), lambda database: _kind(database, path))


def _kind(database: apsw.Connection, path: Path) -> str:
    things = {(str(name), str(kind)) for name, kind in database.execute(THINGS)}
    columns = {name for (name,) in database.execute(SCRIPT_COLUMNS)}
    if ("events", "table") in things and columns.issuperset(COLUMNS):
        return "script"
    if ("transcript_events", "table") in things:
        return "openclaw"
    if ("events", "view") in things and ("record", "table") in things:
        raise BadInput(
            f"{path} is a Limpet database.", "limpet restore  puts a backup back; limpet export  makes lines."
        )
    raise BadInput(
        f"{path} is a database, but not one that Limpet knows.",
        "The script's (a table events with its seven columns) and an OpenClaw agent's can be imported.",
    )


def told_by_script(path: Path, zone: str, now_ms: int) -> Iterator[tuple[Record, int]]:
    """Give the record of each row of the script's table, in order, and its length; its times are of `zone`."""
    with _plain(path) as plain:
        database = ForeignDatabase(plain, {"events": COLUMNS})
        after = -(1 << 62)
        while rows := _look(database, partial(_page, after=after)):
            for _, *row in rows:
                yield script_record(row, zone, now_ms), sum(len(v) for v in row if isinstance(v, str | bytes))
            after = rows[-1][0]


def batches_of_transcripts(path: Path, now_ms: int) -> Iterator[Batch]:
    """Give all that an agent's database holds, in the batches of its source."""
    with _plain(path) as plain:
        source = TranscriptSource(layout.agent_of(path), plain)
        cursor: dict[str, Json] = {}
        while True:
            batch = source.read(cursor, now_ms)
            yield batch
            cursor = {item: at for item, at in {**cursor, **batch.cursor}.items() if at is not None}
            if not batch.more:
                return


def _page(database: apsw.Connection, after: int) -> list[tuple[Json, ...]]:
    try:
        return database.execute(ROWS, (after, PAGE)).fetchall()
    except UnicodeDecodeError:
        return [(rowid, *map(_text, row)) for rowid, *row in database.execute(ROWS_AS_BYTES, (after, PAGE))]


def _text(value: Json) -> Json:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _look(database: ForeignDatabase, reading: Callable[[apsw.Connection], T]) -> T:
    """Look, waiting a while for an owner who keeps it busy."""
    for _ in range(TRIES):
        found = database.look(reading, clock.now_ms())
        if found is not None:
            return found
        clock.sleep(TRY_AGAIN_S)
    raise Unavailable(f"{database.path} is busy.", "Stop the program that writes to it, then try again.", "busy")


@contextmanager
def _plain(path: Path) -> Iterator[Path]:
    """Give the file itself, or a private unpacked copy for as long as it is needed."""
    if not packing(path):
        yield path
        return
    with TemporaryDirectory(prefix="limpet-import-") as folder:
        plain = Path(folder, "unpacked")
        with unpacked(path) as source, plain.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield plain
