"""Spoilt input for readers: good examples, changed by chance, those kept that reach new lines of code.

Not for judging what a reader may do: a reader raises what it found wrong, and only LimpetError is no finding.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet.errors import LimpetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType

HANGS_S = 120.0
"""A reader that takes longer for one small input hangs, however busy the machine is."""

TRACED = 8
"""One of so many inputs is run with its lines counted, which is slow."""

MOST_KEPT, MOST_FINDINGS = 2_000, 20
LONGEST = 200_000
HERE = str(Path(sys.modules[LimpetError.__module__].__file__ or "").parent)

ODD: Sequence[Any] = (
    None, True, False, 0, -1, 1.5, -0.0, 1e308, 10**18, -(1 << 63), 1 << 63, 10**30, "", " ", "0", "x" * 5000, "\0", "\ud800",
    "\U0001f600" * 50, "\u202e\x1b[2J", "../../etc/passwd", "⟦removed: github token #9f3a61c2; not a value⟧", "\0body:" + "0" * 64,
    "2026-06-01", "2026-13-45T99:99:99Z", "9999999999999999999", "NaN", "{}", '{"a":', "%00", [], {}, [[]], [None], {"": None},
    {"type": "text"}, {"id": None}, [{"type": "toolCall", "id": 1}], {"content": [1]}, "limpet_forget", "transcript_line", "after_tool_call",
)  # fmt: skip
TOKENS = (
    b"\0", b"\n", b"\r\n", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b'"', b"'", b"\\", b"\\u", b"\\ud800", b"{", b"}", b"[", b"]", b",",
    b":", b"null", b"true", b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 25, b"9" * 5000, b"0x", b"[" * 300, b'{"a":' * 1200, b"]" * 300,
    b"//", b"/*", b"*/", b"#", b"=", b"<!--", b"-->", b"%", b"&", b"+", b"$include", b"\x1b[31m", b" " * 200, b"e", b"1979-05-27", b"ghp_",
    b"limpet:begin", b"limpet:end", b"content-length", b"Bearer ", b"-----BEGIN PRIVATE KEY-----", b"\xe2\x80\xae", b"SQLite format 3\0",
)  # fmt: skip


class Hung(BaseException):
    """A reader that does not come back; no `except Exception` may swallow it."""


class Fuzzer:
    """One reader's inputs: the same name and seeds give the same row of inputs."""

    def __init__(self, name: str, seeds: Sequence[bytes]) -> None:
        """Begin with these good examples."""
        self.chance = random.Random(name)
        self.kept = list(seeds)
        self.tried = 0
        self.findings: dict[str, str] = {}
        self._seen: set[tuple[CodeType, int]] = set()

    def run(self, read: Callable[[bytes], object], seconds: float) -> None:
        """Feed the reader until the time is over or it has failed in too many ways; the seeds themselves come first."""
        for seed in list(self.kept):
            self._feed(read, seed)
        end = time.monotonic() + seconds
        while time.monotonic() < end and len(self.findings) < MOST_FINDINGS:
            self._feed(read, self._spoilt())

    def _feed(self, read: Callable[[bytes], object], content: bytes) -> None:
        self.tried += 1
        known = len(self._seen)
        traced = self.tried % TRACED == 0
        try:
            with patience():
                if traced:
                    sys.settrace(self._trace)
                try:
                    read(content)
                finally:
                    sys.settrace(None)
        except LimpetError:
            pass
        except (Exception, Hung) as error:  # noqa: BLE001 - whatever it is, it is the finding
            steps = traceback.extract_tb(error.__traceback__)[-4:]
            places = " > ".join(f"{Path(step.filename).name}:{step.lineno}" for step in steps)
            name = f"{type(error).__name__} at {places}"
            self.findings.setdefault(name, f"{name}: {error!s:.300} on {content[:3000]!r}")
        if traced and len(self._seen) > known and len(self.kept) < MOST_KEPT:
            self.kept.append(content)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "call":
            return self._trace if frame.f_code.co_filename.startswith(HERE) else None
        if event == "line":
            self._seen.add((frame.f_code, frame.f_lineno))
        return self._trace

    def _spoilt(self) -> bytes:
        content = self.chance.choice(self.kept)
        for _ in range(self.chance.choice((1, 1, 1, 2, 3, 6))):
            change = self.chance.choice(
                (self._json, self._json, self._token, self._cut, self._double, self._bits, self._splice)
            )
            content = change(content)[:LONGEST]
        return content

    def _place(self, content: bytes) -> int:
        return self.chance.randrange(len(content) + 1)

    def _bits(self, content: bytes) -> bytes:
        spoilt = bytearray(content or b"\0")
        for _ in range(self.chance.choice((1, 1, 4, 16))):
            spoilt[self.chance.randrange(len(spoilt))] = self.chance.randrange(256)
        return bytes(spoilt)

    def _token(self, content: bytes) -> bytes:
        at = self._place(content)
        return content[:at] + self.chance.choice(TOKENS) + content[at + self.chance.choice((0, 0, 1, 4)) :]

    def _cut(self, content: bytes) -> bytes:
        start, end = sorted((self._place(content), self._place(content)))
        return content[:start] + content[end:] if self.chance.random() < 0.8 else content[:start]

    def _double(self, content: bytes) -> bytes:
        start, end = sorted((self._place(content), self._place(content)))
        return content[:end] + content[start:end] + content[end:]

    def _splice(self, content: bytes) -> bytes:
        other = self.chance.choice(self.kept)
        return content[: self._place(content)] + other[self._place(other) :]

    def _json(self, content: bytes) -> bytes:
        """Put something odd into one of the lines of JSON, where there is one."""
        lines = content.split(b"\n")
        at = self.chance.randrange(len(lines))
        try:
            value = json.loads(lines[at])
        except (ValueError, RecursionError):
            return self._token(content)
        lines[at] = json.dumps(self._odd(value)).encode()
        return b"\n".join(lines)

    def _odd(self, value: Any) -> Any:
        if not isinstance(value, (dict, list)) or not value or self.chance.random() < 0.15:
            return self.chance.choice(ODD)
        if isinstance(value, list):
            at = self.chance.randrange(len(value))
            return [self._odd(item) if n == at else item for n, item in enumerate(value)]
        name = self.chance.choice(list(value))
        how = self.chance.random()
        if how < 0.1:
            return {key: item for key, item in value.items() if key != name}
        if how < 0.15:
            return {
                **value,
                self.chance.choice(("", "\ud800", "id", "type", "content", "__proto__", "x" * 300)): value[name],
            }
        return {**value, name: self._odd(value[name])}


@contextmanager
def patience() -> Iterator[None]:
    """Raise Hung where what is done within takes too long."""

    def hung(*_: object) -> None:
        raise Hung(f"no end after {HANGS_S:g} s")

    before = signal.signal(signal.SIGALRM, hung)
    signal.setitimer(signal.ITIMER_REAL, HANGS_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
