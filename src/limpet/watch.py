"""The watch: looks each minute at what is broken, and has somebody told. Not for recording, nor for finding it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import alarm, clock, door, messenger, rescue
from limpet.errors import LimpetError
from limpet.lock import Lock
from limpet.memory import Memory
from limpet.runtimes.openclaw import setup

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from limpet.settings import Settings

LOCK = "watch.lock"
"""Whoever looks holds it: of several watches, each break is told by one."""

LOOK_S = 60.0
DAY_S = 86_400.0
"""How often SQLite is asked whether the database is whole; the first time soon after the start."""

LOOKS = 5
"""So many looks, at least, before somebody is told."""

FILES = (alarm.FILE, "alarm-plugin.json", messenger.FILE, LOCK)
"""What the alarm keeps in Limpet's own folder, the plugin's part among it."""

ANSWER_S = 2.0
REMOVED_S = 2.0
"""How soon somebody who looks on alone notices that Limpet was removed."""

MOST_PAUSES = 30
"""Where no way takes an alarm it is tried again, at last after so many looks."""


class Watch:
    """One watch beside a recorder, or alone."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        """Look at this installation; `say` gets a line for what was told to whom, and for what could not be.

        `damage` is what was found wrong with the database; `news` is what is to be told once, whatever else is.
        """
        self._settings = settings
        self._say = say
        self._alarm = alarm.Alarm.read(settings.home)
        self._looked_s = clock.monotonic_s()
        self._kept: Sequence[Sequence[str]] = ()
        self._pauses = self._failed = 0
        self._complaint = ""
        self._checked_s = clock.monotonic_s()
        self.damage = ""
        self.news: list[str] = []

    def run(self, stop: threading.Event) -> None:
        """Look now and then until told to stop; nothing that goes wrong here ends the recording beside it."""
        if not self._settings.owns_spool:
            return
        self.damage = rescue.look(self._settings)
        while not stop.wait(self._pause_s):
            self._look_safely()

    def run_alone(self, stop: threading.Event) -> None:
        """Look where no sidecar runs, taking in what there is; end as soon as one answers, or Limpet is gone."""
        was_set_up = setup.is_set_up(self._settings.state)
        while not self._waited(stop, was_set_up=was_set_up):
            if not self._settings.home.is_dir() or door.ask(self._settings.socket, {"op": "hello"}, ANSWER_S):
                return
            with Memory(self._settings) as memory:
                memory.refresh()
            self._look_safely()

    def _waited(self, stop: threading.Event, *, was_set_up: bool) -> bool:
        """Wait for the next look; return whether there is to be none, since Limpet was removed, or somebody says so."""
        end = clock.monotonic_s() + self._pause_s
        while (left := end - clock.monotonic_s()) > 0:
            if stop.wait(min(left, REMOVED_S)):
                return True
            if was_set_up and not setup.is_set_up(self._settings.state):
                tidy(self._settings)
                return True
        return False

    @property
    def _pause_s(self) -> float:
        after_s = self._settings.alarm_after_s
        return min(LOOK_S, after_s / LOOKS) if after_s else LOOK_S

    def _look_safely(self) -> None:
        try:
            self.look()
        except LimpetError as error:
            self._complain(error.message)
        except Exception as fault:  # noqa: BLE001 - a fault of ours in one look must not end the others
            self._complain(f"Limpet made a mistake ({type(fault).__name__}: {fault}).")

    def look(self) -> None:
        """Look once, if nobody else does just now. Raises LimpetError where what is known cannot be kept."""
        alone = Lock(self._settings.home / LOCK)
        if not alone.take():
            return
        try:
            self._alarm = alarm.Alarm.read(self._settings.home)
            self._look()
        finally:
            alone.release()

    def _look(self) -> None:
        broken, ways = self._seen()
        now_s = clock.monotonic_s()
        if "memory" in broken or now_s - self._checked_s >= DAY_S:
            self._checked_s, self.damage = now_s, rescue.look(self._settings)
        passed_s, self._looked_s = now_s - self._looked_s, now_s
        if not self._settings.alarm_after_s:
            return
        message = self._alarm.look(broken, min(passed_s, 2 * LOOK_S), self._settings.alarm_after_s, clock.now_ms())
        if ways != self._kept:
            messenger.keep(self._settings, ways)
            self._kept = ways
        if self.news and messenger.deliver(self._settings, ways, alarm.Message(f"Limpet: {' '.join(self.news)}")):
            self.news.clear()
        if message is not None:
            self._tell(message, broken, ways)
        self._alarm.write(self._settings.home)

    def _seen(self) -> tuple[Mapping[str, str], Sequence[Sequence[str]]]:
        """Return what is broken, code to sentence, and the ways to a person; an unreadable memory is broken, too."""
        with Memory(self._settings) as memory:
            try:
                if self._settings.db.exists():
                    memory.attach()
                health = memory.health()
            except LimpetError as error:
                is_none = error.code == "no_database"
                return {} if is_none else {"memory": f"{error.message} -> {error.hint}"}, memory.ways()
            return {one.code: f"{one.sentence} -> {one.remedy}" for one in health.breaks}, memory.ways()

    def _tell(self, message: alarm.Message, broken: Mapping[str, str], ways: Sequence[Sequence[str]]) -> None:
        if self._pauses > 0:
            self._pauses -= 1
            return
        way = messenger.deliver(self._settings, ways, message)
        if way:
            self._failed = 0
            self._alarm.delivered(message, broken, clock.now_ms())
            self._say(f"told by {way}: {message.text}")
            return
        self._failed += 1
        self._pauses = min(2**self._failed, MOST_PAUSES)
        self._say(f"nobody could be told: {message.text}")

    def _complain(self, why: str) -> None:
        if why != self._complaint:
            self._say(f"the watch: {why}")
        self._complaint = why


def kept(settings: Settings) -> Sequence[Path]:
    """Return the files that the alarm keeps here."""
    return [path for name in FILES if (path := settings.home / name).exists()]


def tidy(settings: Settings) -> None:
    """Delete what the alarm keeps: after a removal it would hold somebody's address for nothing."""
    for path in kept(settings):
        path.unlink(missing_ok=True)
