"""The chain from hook to answer, link by link; gaps, sizes, what was taken out, and what the notes cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import address, clock, standing
from limpet.model import Query
from limpet.note.spending import Purse
from limpet.store.search import path_of
from limpet.web.clocks import DAY_MS, Clocks, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from limpet.web.reading import Reader

LATE_MS = 60_000
SECRET = "secret: "  # noqa: S105 - the name of a count
YEAR_DAYS = 365


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain: whether it holds (None: nobody knows), what it is, what was found."""

    holds: bool | None
    name: str
    found: str


def view(memory: Reader, _: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return how the whole chain stands."""
    told = standing.told(memory)
    if memory.settings.fleet or not memory.exists():
        return {"told": told, "nothing": True, "machines": told.get("machines", ())}
    now = clock.now_ms()
    week = memory.answer(Query(since_ms=now - 7 * DAY_MS, until_ms=now, zone=clocks.zone, limit=0))
    counts = told["counts"]
    return {
        "told": told,
        "nothing": False,
        "machines": (),
        "health": memory.health(),
        "links": list(_machines(told) if memory.settings.fleet else _links(memory, clocks)),
        "gaps": [(clocks.moment(g.from_ms), clocks.moment(g.to_ms) if g.to_ms else "now", g.source, g.why)
                 for g in week.coverage.gaps],
        "coverage": week.coverage,
        "files": _files(memory),
        "forecast": _forecast(memory, week.count),
        "secrets": [(name.removeprefix(SECRET), n) for name, n in counts.items() if name.startswith(SECRET)],
        "counts": [(name, n) for name, n in counts.items() if not name.startswith(SECRET)],
        "spent": _spent(memory),
        "settings": [(name, address.shown(str(getattr(memory.settings, name)))) for name in memory.settings.origins],
    }  # fmt: skip


def _machines(told: Mapping[str, Any]) -> Iterator[Link]:
    """Yield each machine of a fleet, as it last said how it stands."""
    for one in told["machines"]:
        yield Link(one["ok"], one["machine"], f"{one['records']:,} records. {one['state']}")


def _links(memory: Reader, clocks: Clocks) -> Iterator[Link]:
    watched = memory.watched()
    yield Link(
        watched.plugin or None,
        "plugin",
        "is in OpenClaw's configuration" if watched.plugin else "is not in OpenClaw's configuration",
    )
    yield Link(watched.alive or None, "gateway", "runs, and its plugin writes" if watched.alive else "none runs now")
    late = watched.pending_ms is not None and watched.now_ms - watched.pending_ms > LATE_MS
    yield Link(not late and not watched.spool_fault, "spool", watched.spool_fault or f"{size(watched.pending)} wait")
    yield Link(watched.recording, "recorder", "a sidecar is running" if watched.recording else "no sidecar is running")
    for watch in memory.store.state.watches():
        name = "reading it" if watch.source == "spool" else watch.source
        yield Link(not watch.why, name, watch.why or f"read well, last {clocks.moment(watch.good_ms)}")
    _, records, _ = memory.store.find.last_record()
    yield Link(True, "ledger", f"{records:,} records")
    first, last, events = memory.store.find.bounds()
    span = f", {clocks.moment(first)} to {clocks.moment(last)}" if first and last else ""
    yield Link(True, "events", f"{events:,}{span}")
    stale = memory.store.stale()
    yield Link(stale < 1000, "text index", f"{stale:,} events still to be taken in" if stale else "holds every event")


def _files(memory: Reader) -> Sequence[tuple[str, str, str]]:
    """Return what lies where and how large it is: name, path, size."""
    chosen = memory.settings
    if chosen.fleet:
        return []
    places = (
        ("database", chosen.db),
        ("text index", path_of(chosen.db)),
        ("spool", chosen.spool),
        ("quarantine", chosen.quarantine),
    )
    return [(name, str(path), size(_weight(path))) for name, path in places]


def _weight(path: Path) -> int:
    """Return the bytes of a file with its log, or of a folder."""
    if path.is_dir():
        return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    return sum(one.stat().st_size for one in (path, path.with_name(f"{path.name}-wal")) if one.exists())


def _forecast(memory: Reader, in_a_week: int) -> str:
    """Return what both files will weigh in a year if every week is like the last one."""
    db = memory.settings.db
    if memory.settings.fleet:
        return ""
    _, _, events = memory.store.find.bounds()
    if not events or not in_a_week:
        return ""
    each = (_weight(db) + _weight(path_of(db))) / events
    return size(round(each * in_a_week / 7 * YEAR_DAYS))


def _spent(memory: Reader) -> Sequence[tuple[str, int]]:
    """Return the tokens that the notes of each night cost, newest first; none where no model words them."""
    if memory.settings.note_model == "off":
        return []
    return sorted(Purse(memory.settings.home).read().spent.items(), reverse=True)[:14]
