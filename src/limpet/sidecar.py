"""The sidecar: start order, loop and stop order on one screen. It records; everything else works without it, too."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import apsw

from limpet import clock, door, faults, pushing, rescue, watch
from limpet.beside import Beside
from limpet.erasing import Job
from limpet.errors import BadInput, LimpetError, Unavailable
from limpet.lock import Lock
from limpet.memory import Memory
from limpet.recording import Recording
from limpet.runtimes.openclaw import setup
from limpet.settings import for_child
from limpet.store import opening
from limpet.tools import Desk
from limpet.upkeep import copies, finishing, pruning
from limpet.waking import Waking
from limpet.watch import Watch
from limpet.web.starting import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from limpet.settings import Settings

TICK_S = 0.1
"""How often the spool is looked at; the other sources every `OTHERS` ticks."""

OTHERS = 5
RETRY_S = 2.0
"""How long it waits after a fault that may pass: a full disk, a lock held by another program."""

WATCH_ON_MIN = 15
"""For how many minutes somebody looks on after the plugin let go of the sidecar."""

NOTES_S = 60.0
"""How often it looks whether a note is due, where nothing waits to be taken in."""

NOTES, UPKEEP = "writing of notes", "upkeep (copies, and dropping what is old)"
"""What goes on beside the loop, in words for people."""

RETRY_UPKEEP_S = 600.0
UPKEEP_S = 21_600.0
"""How often it looks whether a copy is due or anything is too old, where the settings want that."""

PASSING = (LimpetError, apsw.Error, OSError)
"""Faults that may pass: the sidecar says them and tries again."""

DAMAGED = ("damaged", "not_a_database")
"""Faults that do not pass: the file is looked at, and made anew where it was ours."""

DRAIN_S, LONGEST_DRAIN_S = 2.0, 600.0
"""How long a caller at the socket waits who does not say it, and how long one may at most."""

PROGRESS_S = 2.0
ALREADY_RUNNING = "A sidecar is already running here."


class Sidecar:
    """One running sidecar."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        """Record by these settings; `say` gets one line for each thing a person should know."""
        self._settings = settings
        self._say = say
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._rounds = threading.Condition()
        self._done = 0
        self._round_s = clock.monotonic_s()
        self._complaint = ""
        self._told_s = 0.0
        self._caught_up = threading.Event()
        self._page = Page(settings)
        self._note_complaint = ""
        self._desk = Desk(settings)
        self._input_ended = False
        self._watch = Watch(settings, say)
        self._was_set_up = setup.is_set_up(settings.state)
        self._beside = Beside(self._stop, say)

    def run(self, *, until_eof: bool) -> bool:
        """Record until told to stop; return False at once where a sidecar is already running."""
        os.umask(0o077)  # for good: its threads share one, and would open a moment for each other by restoring it
        lock = Lock(self._settings.lock)
        if not lock.take():
            return False
        entrance = door.Door(self._settings.socket, self._answer)
        try:
            entrance.open()
            self._listen_for_the_end(until_eof=until_eof)
            notes = self._start_others()
            self._loop()
            if notes is not None:
                notes.join(RETRY_S)
            if self._was_set_up and not setup.is_set_up(self._settings.state):
                watch.tidy(self._settings)
            elif self._input_ended:
                self._leave_a_watch()
        finally:
            entrance.close()
            self._page.close()
            lock.release()
        return True

    def _start_others(self) -> threading.Thread | None:
        """Start all that goes on beside the loop; return the thread of the notes, which is waited for at the end."""
        chosen, start = self._settings, self._beside.start
        waking = Waking(chosen, self._say)
        if chosen.owns_spool:
            start("watch", lambda: self._watch.run(self._stop))
            start("briefs", lambda: waking.run(self._stop, self._is_well))
        if chosen.push and chosen.owns_spool:
            pushes = pushing.Pushing(chosen)
            start("push", lambda: pushes.run(self._stop, self._say))
        if (chosen.keep_days or chosen.keep_mb or chosen.backups) and chosen.owns_spool:
            start(UPKEEP, self._keep_up)
        return start(NOTES, self._write_notes) if chosen.note_nightly and chosen.owns_spool else None

    def stop(self) -> None:
        """End after the round that is going on."""
        self._stop.set()
        self._wake.set()

    def _loop(self) -> None:
        recording: Recording | None = None
        ticks = 0
        while not self._stop.is_set():
            try:
                self._check()
                recording = recording or self._opened()
                more = self._round(recording, everything=ticks % OTHERS == 0 or self._wake.is_set())
            except Exception as error:  # noqa: BLE001 - a fault of ours is said, and tried again, like one that may pass
                fault = self._explained(error)
                self._complain(fault)
                recording, more = _closed(recording), False
                if fault.code not in DAMAGED or not self._rescued():
                    self._stop.wait(RETRY_S)
            ticks += 1
            if not more:
                self._wake.wait(TICK_S)
            self._wake.clear()
        if recording is not None:
            with contextlib.suppress(*PASSING):  # what is left stays in the spool
                recording.drain(1.0)
            _closed(recording)
        with self._rounds:
            self._rounds.notify_all()  # there will be no other round

    def _check(self) -> None:
        """Raise Unavailable where the watch has found the database damaged."""
        if self._watch.damage:
            why, self._watch.damage = self._watch.damage, ""
            raise Unavailable(f"{self._settings.db} is damaged: {why}.", "It is made anew.", "damaged")

    def _rescued(self) -> bool:
        """Put a new database in the place of one that is damaged; return whether that was so."""
        try:
            if not (why := rescue.look(self._settings)):
                return False
            self._say(f"the database is damaged ({why}): bringing back what can be read")
            done = rescue.rescue(self._settings, lambda _: None)
        except PASSING as error:
            self._complain(self._explained(error))
            return False
        self._say(done.sentence)
        self._watch.news.append(done.sentence)
        return True

    def _opened(self) -> Recording:
        rescue.settle(self._settings)
        recording = Recording.open(self._settings)
        if Job.read(recording.store) is not None:
            self._finish_erasing()
        self._say(f"recording into {self._settings.db}")
        return recording

    def _finish_erasing(self) -> None:
        """Finish what an earlier run began to erase; where that cannot be done now, recording goes on all the same."""
        self._say("finishing what an earlier run began to erase")
        try:
            with Memory(self._settings) as memory:
                finishing.finish(memory)
        except LimpetError as error:
            self._say(f"cannot finish erasing: {error.message} {error.hint}".strip())

    def _round(self, recording: Recording, *, everything: bool) -> bool:
        more = recording.round(everything=everything)
        self._round_done()
        self._cheer()
        left = recording.history_left()
        self._tell_progress(left)
        if not more and not left:
            self._caught_up.set()
        return more

    def _explained(self, error: Exception) -> LimpetError:
        if isinstance(error, LimpetError):
            return error
        if isinstance(error, apsw.Error):
            return opening.explained(error, self._settings.db)
        if isinstance(error, OSError):
            return Unavailable(f"{error}.", "Check the disk and its permissions.")
        return faults.kept(self._settings.home, error)

    def _write_notes(self) -> None:
        """Write what is due, now and then, beside the loop: recording never waits for a note, nor for a model."""
        while not self._stop.is_set():
            if not self._caught_up.wait(1.0):
                continue
            try:
                with self._beside.piece(NOTES):
                    self._look_for_notes()
            except LimpetError as error:
                self._complain_of_notes(error.message)
            except Exception as fault:  # noqa: BLE001 - a fault of ours in one night must not end the other nights
                self._complain_of_notes(f"Limpet made a mistake ({type(fault).__name__}: {fault}).")
            self._caught_up.clear()
            self._stop.wait(NOTES_S)

    def _is_well(self) -> bool:
        """Whether it has begun to record, and can."""
        return self._done > 0 and not self._complaint

    def _keep_up(self) -> None:
        """Copy, and drop what is old, where the settings say so; copy first: what is dropped is then in a copy."""
        while not self._stop.wait(NOTES_S):
            troubles = [why for work in (copies.nightly, pruning.retain) if (why := self._kept_up(work))]
            self._beside.went(UPKEEP, " ".join(troubles))
            self._stop.wait(RETRY_UPKEEP_S if troubles else UPKEEP_S)

    def _kept_up(self, work: Callable[[Memory, int], str]) -> str:
        """Do one piece of upkeep; return why it could not be done, "" where it was, or nothing was to be done."""
        try:
            with self._beside.piece(UPKEEP), Memory(self._settings) as memory:
                said = work(memory, clock.now_ms())
        except Exception as error:  # noqa: BLE001 - one that went wrong must not end the others: it is said, and a break
            told = self._explained(error)
            self._say(f"not done: {told.message}")
            return told.message
        if said:
            self._say(said)
        return ""

    def _look_for_notes(self) -> None:
        with Memory(self._settings) as memory:
            outcomes = memory.notes().look(clock.now_ms(), patient=True)
        for one in outcomes:
            if one.result == "written":
                self._say(f"note written: {one.path}")
        self._complain_of_notes(" ".join(one.why for one in outcomes if one.result == "failed"))

    def _complain_of_notes(self, why: str) -> None:
        if why and why != self._note_complaint:
            self._say(f"cannot write a note: {why}")
        self._note_complaint = why or self._note_complaint

    def _answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        if request.get("op") == "drain":
            return {"ok": self._drained(_patience_s(request.get("seconds")))}
        if request.get("op") == "hello":
            return {
                "ok": True,
                "pid": os.getpid(),
                "db": str(self._settings.db),
                "complaint": self._complaint,
                "beside": list(self._beside.troubles()),
                "idle_s": clock.monotonic_s() - self._round_s,
            }
        if request.get("op") == "open":
            return self._page.open()
        if request.get("op") == "tool":
            return self._desk.answer(request)
        message = "The sidecar knows `drain`, `hello`, `open` and `tool`."
        return {"error": {"code": "bad_input", "message": message, "hint": ""}}

    def _drained(self, seconds: float) -> bool:
        """Wait until a round that began after now has ended."""
        with self._rounds:
            wanted = self._done + 2
            self._wake.set()
            end = clock.monotonic_s() + seconds
            while self._done < wanted and not self._complaint and not self._stop.is_set():
                if not self._rounds.wait(max(0.0, end - clock.monotonic_s())):
                    return False
                self._wake.set()
            return self._done >= wanted and not self._complaint

    def _round_done(self) -> None:
        with self._rounds:
            self._round_s = clock.monotonic_s()
            self._done += 1
            self._rounds.notify_all()

    def _complain(self, error: LimpetError) -> None:
        if error.message != self._complaint:
            self._say(f"cannot record: {error.message} {error.hint}".strip())
        self._complaint = error.message
        with self._rounds:
            self._rounds.notify_all()

    def _tell_progress(self, left: int) -> None:
        """Say now and then how much history is still to be brought in, and once that all of it is."""
        now = clock.monotonic_s()
        if left and now - self._told_s >= PROGRESS_S:
            self._say(f"bringing in history: {left:,} entries to go")
            self._told_s = now
        elif not left and self._told_s:
            self._say("all history is in")
            self._told_s = 0.0

    def _cheer(self) -> None:
        if self._complaint:
            self._say("recording again")
            self._complaint = ""

    def _listen_for_the_end(self, *, until_eof: bool) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.stop())
        if until_eof:
            threading.Thread(target=self._wait_for_eof, name="eof", daemon=True).start()

    def _wait_for_eof(self) -> None:
        while not self._stop.is_set():
            ready, _, _ = select.select([sys.stdin.fileno()], [], [], 1.0)
            if ready and not os.read(sys.stdin.fileno(), 4096):
                self._input_ended = True
                self.stop()

    def _leave_a_watch(self) -> None:
        """Let somebody look on for a while: the gateway may go on, or come back, without the plugin and us."""
        if not self._settings.alarm_after_s:
            return
        with contextlib.suppress(OSError):
            subprocess.Popen(
                [sys.executable, "-m", "limpet", "watch", "--minutes", str(WATCH_ON_MIN)],
                env=dict(for_child(self._settings)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )


def _patience_s(said: Any) -> float:
    """Return how long a caller wants to wait, in seconds; raises BadInput for what is no such time."""
    if said is None:
        return DRAIN_S
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not 0 <= said <= LONGEST_DRAIN_S:
        raise BadInput(f"`seconds` is a number from 0 to {LONGEST_DRAIN_S:g}.", '{"op": "drain", "seconds": 2}')
    return float(said)


def _closed(recording: Recording | None) -> Recording | None:
    """Close a recording as far as it can be closed; return None, which is what is left of it."""
    if recording is not None:
        with contextlib.suppress(apsw.Error):
            recording.close()
    return None
