"""Work that goes on beside the recorder, each in a thread of its own: where one ends, hangs or fails, it is known.

Not for what the work is, nor for telling anybody: the sidecar says it at its socket, and breaks.py makes a break of it.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HANGS_S = 3 * 3600.0
"""A piece of work that takes longer hangs: the largest, a verified copy of many gigabytes, takes under an hour."""


@dataclass(slots=True)
class Work:
    """One kind of work: whether it ended, since when it is at a piece of it (None: at none), what went wrong last."""

    ended: bool = False
    busy_since_s: float | None = None
    why: str = ""


class Beside:
    """All that goes on beside one recorder."""

    def __init__(self, stop: threading.Event, say: Callable[[str], None]) -> None:
        """Nothing goes on yet; once `stop` is set, work may end. `say` gets a line for each that ends before."""
        self._stop = stop
        self._say = say
        self._works: dict[str, Work] = {}

    def start(self, name: str, work: Callable[[], None]) -> threading.Thread:
        """Let this work go on from now on, under a name for people."""
        thread = threading.Thread(target=self._run, args=(name, work), name=name, daemon=True)
        self._works[name] = Work()
        thread.start()
        return thread

    @contextlib.contextmanager
    def piece(self, name: str) -> Iterator[None]:
        """Take note for how long the work of this name is at one piece."""
        work = self._works[name]
        work.busy_since_s = clock.monotonic_s()
        try:
            yield
        finally:
            work.busy_since_s = None

    def went(self, name: str, why: str) -> None:
        """Take note how a piece of work went: `why` it could not be done, "" where it was."""
        self._works[name].why = why

    def troubles(self) -> Sequence[str]:
        """Return a sentence for each work that does not go on as it should."""
        if self._stop.is_set():
            return ()
        return [said for name, work in self._works.items() if (said := _trouble(name, work))]

    def _run(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as fault:  # noqa: BLE001 - it is said, and the recorder goes on
            self._works[name].why = f"Limpet made a mistake ({type(fault).__name__}: {fault})."
        if not self._stop.is_set():
            self._works[name].ended = True
            self._say(_trouble(name, self._works[name]))


def _trouble(name: str, work: Work) -> str:
    if work.ended:
        return f"The {name} ended by itself. {work.why}".strip()
    busy_s = 0.0 if work.busy_since_s is None else clock.monotonic_s() - work.busy_since_s
    if busy_s > HANGS_S:
        return f"The {name} hangs: it has been at one piece of work for {busy_s / 3600:,.1f} hours."
    return f"The {name} cannot be done: {work.why}" if work.why else ""
