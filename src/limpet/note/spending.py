"""What models were asked for the notes, and what that cost: one small file. Not for asking; see `drafting`."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from limpet import jsonfile
from limpet.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

FILE = "note-model.json"
MOST = 200
"""So many drafts are remembered; older ones go."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One wording: of which day and agent and plan, in which night, by whom, and why not by the model.

    `by` is `model` or `rules`; `exact` says whether the model itself counted its tokens. A refused answer has cost its
    tokens too. `tries` is how often it was tried.
    """

    day: str
    agent: str
    stamp: str
    night: str
    by: str
    text: str = ""
    reason: str = ""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    exact: bool = False
    tries: int = 1


@dataclass(frozen=True, slots=True)
class Spending:
    """The drafts of the last nights, newest last, and what each night has cost so far, reserved tokens included."""

    drafts: tuple[Draft, ...] = ()
    spent: Mapping[str, int] = field(default_factory=dict)

    def draft(self, day: str, agent: str) -> Draft | None:
        """Return the newest draft of this day and agent."""
        return next((one for one in reversed(self.drafts) if (one.day, one.agent) == (day, agent)), None)


class Purse:
    """The file, in Limpet's own folder; a damaged one counts as empty: all of it can be made again."""

    def __init__(self, home: Path) -> None:
        """Use the file of this home."""
        self._path = home / FILE

    def read(self) -> Spending:
        """Return what was spent so far."""
        try:
            return _read(jsonfile.read(self._path))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
            return Spending()

    def reserve(self, night: str, tokens: int, budget: int) -> bool:
        """Take tokens from a night's budget before asking; False where it has not so many left."""
        with self._changing() as now:
            left = budget - now[0].spent.get(night, 0)
            if tokens > left:
                return False
            now[0] = _paid(now[0], night, tokens)
        return True

    def note_down(self, draft: Draft, reserved: int) -> None:
        """Remember a draft, and put what it really cost in place of what was reserved for it."""
        with self._changing() as now:
            kept = [one for one in now[0].drafts if (one.day, one.agent) != (draft.day, draft.agent)]
            paid = _paid(now[0], draft.night, draft.tokens_in + draft.tokens_out - reserved)
            now[0] = replace(paid, drafts=(*kept, draft)[-MOST:])

    def forget(self, keys: Collection[tuple[str, str]]) -> None:
        """Let go of the drafts of these (day, agent); what they cost stays."""
        if any((one.day, one.agent) in keys for one in self.read().drafts):
            with self._changing() as now:
                kept = tuple(one for one in now[0].drafts if (one.day, one.agent) not in keys)
                now[0] = replace(now[0], drafts=kept)

    @contextmanager
    def _changing(self) -> Iterator[list[Spending]]:
        """Hand out what is there, and keep what the caller puts in its place; one process at a time."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                now = [self.read()]
                yield now
                self._write(now[0])
            finally:
                os.close(lock)
        except OSError as error:
            raise Unavailable(f"{self._path} cannot be written: {error.strerror}.", "Check that folder.") from error

    def _write(self, value: Spending) -> None:
        new = self._path.with_suffix(f".{os.getpid()}.new")
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump({"spent": dict(value.spent), "drafts": [asdict(one) for one in value.drafts]}, file)
        new.replace(self._path)


def _paid(value: Spending, night: str, tokens: int) -> Spending:
    spent = {**value.spent, night: max(0, value.spent.get(night, 0) + tokens)}
    return replace(value, spent=dict(sorted(spent.items())[-31:]))


def _read(value: Any) -> Spending:
    kinds = {one.name: {"str": str, "int": int, "bool": bool}[str(one.type)] for one in fields(Draft)}
    drafts = [Draft(**{name: kind(said[name]) for name, kind in kinds.items()}) for said in value["drafts"]]
    return Spending(tuple(drafts), {str(night): int(tokens) for night, tokens in value["spent"].items()})
