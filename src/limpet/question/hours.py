"""From words to a time of day: "9:40", "2 pm", "noon", "morning". Knows no days."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet.question.moments import DAY_S, Times
from limpet.question.refusal import refused

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = {"morning": (0, 43_200), "afternoon": (43_200, 64_800), "evening": (64_800, DAY_S), "night": (64_800, 108_000)}
"""Parts of a day in seconds after its midnight; a night ends at 06:00 of the next day."""

HALVES = {"morning": "am", "afternoon": "pm", "evening": "pm"}
NAMED = {"noon": 43_200, "midday": 43_200, "midnight": 0}
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(am|pm)?")
HOUR = re.compile(r"([0-9]{1,2})(am|pm)?")


def read_times(words: Sequence[str], *, hours: bool = False, parts: bool = False) -> tuple[Times, int] | None:
    """Read a time of day at the start of the words, and how many words it took.

    `hours`: a bare number is an hour; `parts`: "morning" and the like stand for themselves.
    """
    if not words:
        return None
    said = words[0]
    if parts and said in PARTS:
        return Times(*PARTS[said], half="sure"), 1
    if said in NAMED:
        return Times(NAMED[said], NAMED[said] + 60, point=True, half="sure"), 1
    if match := CLOCK.fullmatch(said):
        return _clock(match, words)
    match = HOUR.fullmatch(said)
    return _hour(match, words, bare=hours) if match else None


def _clock(match: re.Match[str], words: Sequence[str]) -> tuple[Times, int]:
    half, used = _half(match[4], words, int(match[1]))
    said = " ".join(words[:used])
    hour, minute, second = _of_day(int(match[1]), half, said), int(match[2]), int(match[3] or 0)
    start = hour * 3600 + minute * 60 + second
    if minute > 59 or second > 59 or start > DAY_S:
        raise no_time(said)
    return Times(start, start + (1 if match[3] else 60), point=True, half=half), used


def _hour(match: re.Match[str], words: Sequence[str], *, bare: bool) -> tuple[Times, int] | None:
    number = int(match[1])
    half, used = _half(match[2], words, number)
    if not bare and (not half or used > 2):
        return None
    if half in ("am", "pm", "o'clock"):
        hour = _of_day(number, half, " ".join(words[:used]))
        return Times(hour * 3600, hour * 3600 + 3600, point=True, half=half), used
    return Times(number * 3600, number * 3600 + 3600, point=True, number=number), used


def _half(glued: str | None, words: Sequence[str], hour: int) -> tuple[str, int]:
    """Return "am", "pm" or "o'clock" as said, and how many words the time takes with it: "3 in the afternoon"."""
    if glued:
        return glued, 1
    after = words[1].replace(".", "") if len(words) > 1 else ""
    if tuple(words[1:3]) == ("in", "the") and len(words) > 3 and words[3] in HALVES and 1 <= hour <= 12:
        return HALVES[words[3]], 4
    return (after, 2) if after in ("am", "pm", "o'clock") else ("", 1)


def _of_day(hour: int, half: str, said: str) -> int:
    if hour > 24 or (half in ("am", "pm") and not 1 <= hour <= 12):
        raise no_time(said)
    return hour % 12 + 12 * (half == "pm") if half in ("am", "pm") else hour


def no_time(said: str) -> Exception:
    """Return the refusal of a time that no clock shows."""
    return refused(f"There is no time of day {said!r}.", "impossible_time", "tool calls before 9:40")
