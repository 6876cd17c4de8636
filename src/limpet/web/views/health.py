"""How all of it stands: the chain link by link, gaps, the alarm, sizes and what they will be, secrets, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from limpet import address, clock, standing, walk
from limpet.model import Query
from limpet.note.spending import Purse
from limpet.store.search import path_of
from limpet.web.clocks import DAY_MS, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

SECRET = "secret: "  # noqa: S105 - the name of a count
WEEK_DAYS = 7
YEAR_DAYS = 365
NIGHTS = 14


class Night(NamedTuple):
    """What one night's notes cost: tokens, how many a model worded, and how many the rules did after all."""

    night: str
    tokens: int
    worded: int
    refused: int


def view(memory: Reader, _: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return how the whole chain stands."""
    is_fleet = bool(memory.settings.fleet)
    if not memory.exists():
        return {"told": lambda: standing.told(memory), "fleet": False, "nothing": True}
    memory.head()  # a memory that cannot be read says so before anything is sent
    return {
        "told": lambda: standing.told(memory),
        "fleet": is_fleet,
        "nothing": False,
        "secrets_of": _secrets,
        "counts_of": _counts,
        "steps": lambda: list(walk.steps(memory, clocks.moment, thorough=False)),
        "week": lambda: _week(memory, clocks),
        "nights": list(_nights(memory)),
        "budget": memory.settings.note_token_budget,
        "settings": [(name, address.shown(str(getattr(memory.settings, name)))) for name in memory.settings.origins],
    }


def _week(memory: Reader, clocks: Clocks) -> Mapping[str, Any]:
    """Return how well the last seven days were watched, what lies where, and how it grows."""
    now = clock.now_ms()
    week = memory.answer(Query(since_ms=now - WEEK_DAYS * DAY_MS, until_ms=now, zone=clocks.zone, limit=0))
    files = [(name, str(path), size(_weight(path))) for name, path in _places(memory)]
    return {"coverage": week.coverage, "files": files, "grows": _grows(memory, week.count)}


def _secrets(told: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    found = ((name.removeprefix(SECRET), n) for name, n in told.get("counts", {}).items() if name.startswith(SECRET))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _counts(told: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    return [(name, n) for name, n in told.get("counts", {}).items() if not name.startswith(SECRET)]


def _places(memory: Reader) -> Iterator[tuple[str, Path]]:
    """Yield what lies where."""
    chosen = memory.settings
    yield "database", chosen.db
    yield "text index", path_of(chosen.db)
    yield "spool", chosen.spool
    yield "quarantine", chosen.quarantine


def _weight(path: Path) -> int:
    """Return the bytes of a file with its log, or of a folder; what goes away meanwhile weighs nothing."""
    files = path.rglob("*") if path.is_dir() else (path, path.with_name(f"{path.name}-wal"))
    return sum(map(_bytes, files))


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _grows(memory: Reader, in_a_week: int) -> tuple[str, str] | None:
    """Return what a week like the last one adds to both files, and what a year of them; None where nobody can say."""
    db, events = memory.settings.db, memory.store.find.bounds()[2]
    if not events or not in_a_week:
        return None
    week = (_weight(db) + _weight(path_of(db))) * in_a_week / events
    return size(round(week)), size(round(week / WEEK_DAYS * YEAR_DAYS))


def _nights(memory: Reader) -> Iterator[Night]:
    """Yield what the notes of each night cost, newest first; none where no model was ever asked."""
    spending = Purse(memory.settings.home).read()
    for night, tokens in sorted(spending.spent.items(), reverse=True)[:NIGHTS]:
        by = [draft.by for draft in spending.drafts if draft.night == night]
        yield Night(night, tokens, by.count("model"), by.count("rules"))
