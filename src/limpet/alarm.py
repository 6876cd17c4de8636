"""When somebody must be told: what is broken for minutes becomes one alarm, and one all-clear when all is well again.

Pure: it is handed what is broken and how much time has passed, and gives a message or none. What it knows is kept in
`alarm.json`, so that a restart raises nothing twice. Not for finding what is broken (breaks.py), nor for the way to a
person (messenger.py).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from limpet import jsonfile, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

FILE = "alarm.json"
DAY_MS = 86_400_000
MOST_PATIENT = 5
"""After so many alarms in a day the all-clear takes 16 times as long, and does not get slower."""

LONGEST = 1_200
"""Characters of one message: some channels take no more in one piece."""


@dataclass(slots=True)
class Trouble:
    """One break as it was seen: for how long broken, for how long well since, when it was told, and in what words."""

    sentence: str
    broken_s: float = 0.0
    well_s: float = 0.0
    told_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What a person is to be told; `clear` that all is well again."""

    text: str
    clear: bool = False


@dataclass(slots=True)
class Alarm:
    """What is known of the breaks there are, by their codes, and when alarms were raised in the last day."""

    troubles: dict[str, Trouble] = field(default_factory=dict)
    raised_ms: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, home: Path) -> Self:
        """Return what was kept in this folder; nothing where there is none, or none that can be read."""
        try:
            said = jsonfile.read(home / FILE)
            troubles = {str(code): _trouble(**trouble) for code, trouble in said["troubles"].items()}
            return cls(troubles, [int(at) for at in said["raised_ms"]])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
            return cls()

    def write(self, home: Path) -> None:
        """Keep it, whole or not at all. Raises Unavailable."""
        troubles = {code: asdict(one) for code, one in self.troubles.items()}
        jsonfile.write(home / FILE, {"troubles": troubles, "raised_ms": self.raised_ms})

    @property
    def told(self) -> Sequence[str]:
        """The sentences that somebody was told and that still hold."""
        return [one.sentence for one in self.troubles.values() if one.told_ms is not None]

    def look(self, broken: Mapping[str, str], passed_s: float, after_s: float, now_ms: int) -> Message | None:
        """Take in what is broken now (code to sentence); return what somebody must be told, None where nothing.

        `passed_s` have passed since the last look; what was broken for `after_s` in all, without having been well for
        as long in between, is told, once. Say `delivered` when it was.
        """
        self._count(broken, passed_s, after_s)
        self.raised_ms = [at for at in self.raised_ms if 0 <= now_ms - at < DAY_MS]
        if any(
            one.told_ms is None and one.broken_s >= after_s for code, one in self.troubles.items() if code in broken
        ):
            return Message(_alarm([self.troubles[code].sentence for code in broken]))
        told = [one for one in self.troubles.values() if one.told_ms is not None]
        if told and not broken and min(one.well_s for one in told) >= self._quiet_s(after_s):
            return Message(_all_clear([one.sentence for one in told]), clear=True)
        return None

    def delivered(self, message: Message, broken: Mapping[str, str], now_ms: int) -> None:
        """Take note that the message reached its way to somebody."""
        if message.clear:
            self.troubles.clear()
            return
        self.raised_ms.append(now_ms)
        for code in broken:
            self.troubles[code].told_ms = now_ms

    def _count(self, broken: Mapping[str, str], passed_s: float, after_s: float) -> None:
        for code, sentence in broken.items():
            known = self.troubles.get(code)
            if known is None:
                self.troubles[code] = Trouble(sentence)
                continue
            known.sentence, known.broken_s, known.well_s = sentence, known.broken_s + passed_s, 0.0
        for code in self.troubles.keys() - broken.keys():
            one = self.troubles[code]
            one.well_s += passed_s
            if one.told_ms is None and one.well_s >= after_s:
                del self.troubles[code]

    def _quiet_s(self, after_s: float) -> float:
        """Return how long all must be well before that is said: longer with every alarm of this day."""
        return float(after_s * 2 ** (min(max(1, len(self.raised_ms)), MOST_PATIENT) - 1))


def _trouble(sentence: Any, broken_s: Any, well_s: Any, told_ms: Any) -> Trouble:
    """Return a break as it was kept; raises ValueError or TypeError where it cannot be that."""
    return Trouble(str(sentence), float(broken_s), float(well_s), None if told_ms is None else int(told_ms))


def _alarm(sentences: Sequence[str]) -> str:
    if len(sentences) == 1:
        return _short(f"Limpet: {sentences[0]}")
    listed = " ".join(f"({n}) {sentence}" for n, sentence in enumerate(sentences, start=1))
    return _short(f"Limpet: {len(sentences)} things are broken. {listed}")


def _all_clear(sentences: Sequence[str]) -> str:
    return _short(f"Limpet: all is well again. It was: {' '.join(sentences)}")


def _short(said: str) -> str:
    return text.one_line(said, LONGEST)
