"""What a fleet's machines say of themselves, and whether their ledgers there are whole. Reads only."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from limpet import coverage, days, settings
from limpet.checking.replica import Replica
from limpet.errors import Unavailable
from limpet.verification import MOST_FAULTS, PAGE, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from limpet.settings import Settings
    from limpet.store.port import Store
    from limpet.store.postgres.store import FleetStore, Machine

SILENT_MS = 15 * 60_000
"""A machine that pushed nothing for so long is not well: with nothing to bring it still says that it lives."""


def opened(chosen: Settings) -> FleetStore:
    """Open the fleet that these settings name in place of a database.

    Raises Unavailable where nobody answers, BadInput for a login that is refused, NotFound for a machine that is none.
    """
    check_installed()
    from limpet.store.postgres.store import FleetStore  # noqa: PLC0415 - psycopg, an extra

    return FleetStore.open(chosen.fleet, settings.secret(chosen.push_password_env))


def check_installed() -> None:
    """Raise Unavailable where the client of PostgreSQL is not installed: it is an extra."""
    if find_spec("psycopg") is None:
        raise Unavailable("A fleet needs the package psycopg.", "pip install 'limpet[fleet]'", "no_psycopg")


def about(store: Store, watched: coverage.Watched, zone: str) -> dict[str, Any]:
    """Return what a machine says of itself with every push: how its sources stand, and whether it records."""
    health = coverage.health(store, watched)
    return {
        "version": version("limpet"),
        "zone": zone,
        "now_ms": watched.now_ms,
        "plugin": watched.plugin,
        "alive": watched.alive,
        "recording": watched.recording,
        "pending": watched.pending,
        "ok": health.ok,
        "sentence": health.sentence,
        "counts": store.state.counts(),
        "watches": [list(watch) for watch in store.state.watches()],
    }


def watched(store: FleetStore, now_ms: int) -> coverage.Watched:
    """Return what the machines last said of themselves: of one machine, or of each."""
    each = tuple((store.of(machine), _watched(machine, now_ms)) for machine in store.machines)
    return each[0][1] if len(each) == 1 else coverage.Watched(now_ms=now_ms, each=each)


def _watched(machine: Machine, now_ms: int) -> coverage.Watched:
    said: Mapping[str, Any] = machine.said
    return coverage.Watched(
        now_ms=now_ms,
        recording=bool(said.get("recording")),
        plugin=bool(said.get("plugin")),
        complaint="" if said.get("ok", True) else str(said.get("sentence")),
        alive=bool(said.get("alive")),
        pending=int(said.get("pending") or 0),
        told_ms=int(said.get("now_ms") or machine.pushed_ms),
        machine=machine.name,
    )


def health(store: FleetStore, now_ms: int) -> coverage.Health:
    """Return whether all machines record what they should, as they last said, in one sentence."""
    told = standing(store, "UTC", now_ms)
    ill = tuple(f"{one['machine']}: {one['state']}" for one in told["machines"] if not one["ok"])
    since = min((stream.first_ms for stream in store.state.streams()), default=None)
    return coverage.Health(told["ok"], told["state"], told["sentence"], ill, since, store.find.last_record()[0])


def standing(store: FleetStore, zone: str, now_ms: int) -> dict[str, Any]:
    """Return what `status` says of a fleet: all in all, and of each machine what it last said of itself."""
    told = [_standing(machine, zone, now_ms) for machine in store.machines]
    broken = sum(not one["ok"] for one in told)
    noun = "machine" if len(told) == 1 else "machines"
    since = min((stream.first_ms for stream in store.state.streams()), default=None)
    last = store.find.last_record()[0]
    return {
        "ok": broken == 0,
        "state": "fleet",
        "sentence": f"{len(told):,} {noun}" + (f", {broken:,} of them not well." if broken else ", all well."),
        "since": days.show(since, zone) if since else None,
        "last_record": days.show(last, zone) if last else None,
        "pending_bytes": sum(int(machine.said.get("pending") or 0) for machine in store.machines),
        "lacks": [],
        "counts": store.state.counts(),
        "breaks": [],
        "told": [],
        "upkeep": [],
        "note_model": None,
        "notes": [],
        "push": None,
        "machines": told,
    }


def _standing(machine: Machine, zone: str, now_ms: int) -> dict[str, Any]:
    said = machine.said
    silent_ms, skew_ms = now_ms - machine.pushed_ms, int(said.get("skew_ms") or 0)
    parts = [str(said.get("sentence") or "")]
    parts += [f"Its clock is {skew_ms / 60_000:+,.0f} minutes off."] if abs(skew_ms) >= coverage.FAR_OFF_MS else []
    parts += [f"Last pushed {days.show(machine.pushed_ms, zone)}."] if machine.pushed_ms else ["Never pushed."]
    return {
        "machine": machine.name,
        "records": machine.records,
        "pushed": days.show(machine.pushed_ms, zone) if machine.pushed_ms else None,
        "ok": bool(said.get("ok")) and abs(skew_ms) < coverage.FAR_OFF_MS and silent_ms < SILENT_MS,
        "state": " ".join(filter(None, parts)),
    }


def verify(store: FleetStore, progress: Callable[[int], None]) -> Verdict:
    """Check each machine's chain from its first record to its head, and every text stored apart."""
    found = [_verify(store.of(machine), machine, progress) for machine in store.machines]
    several = len(found) != 1
    faults = [
        f"{machine.name}: {fault}" if several else fault
        for machine, one in zip(store.machines, found, strict=True)
        for fault in one.faults
    ]
    heads = [f"{m.name} {one.head}" if several else one.head for m, one in zip(store.machines, found, strict=True)]
    return Verdict(
        records=sum(one.records for one in found),
        events=sum(one.events for one in found),
        head=", ".join(heads),
        faults=tuple(faults[:MOST_FAULTS]),
        forgotten=sum(one.forgotten for one in found),
    )


def _verify(store: FleetStore, machine: Machine, progress: Callable[[int], None]) -> Verdict:
    replica = Replica()
    while page := store.records.after(replica.no, PAGE):
        replica.take(page)
        progress(replica.no)
    faults = replica.finish(machine.records, machine.head)
    faults += [
        f"text {name[:16]} was changed ({found[:32]})" for name, found in store.records.bodies() if name != found
    ]
    head, forgotten = replica.hash.hex(), len(replica.empty)
    return Verdict(replica.records, store.find.bounds()[2], head, tuple(faults), forgotten=forgotten)
