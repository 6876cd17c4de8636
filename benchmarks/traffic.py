"""Made-up days of agents by a fixed seed, in the shapes and sizes of real payloads. Not for measuring anything.

The traffic is made in blocks that are counted from the end: the last ten thousand events are the same ones whether a
thousand or ten million lie before them, so that the same questions have the same answers.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterator

    Line = dict[str, Any]

SEED = 20261130
END_MS = 1_796_040_000_000
"""The end of all of it: 2026-11-30T12:00:00Z."""

A_DAY = 1_250
"""Events in a day."""

BLOCK = 1_000
STEP_MS = 86_400_000 / A_DAY
SESSION = 200
"""Events in a session; every session lies in one block."""

Weighted = Sequence[tuple[str, int]]

AGENTS: Weighted = (("main", 6), ("press", 3), ("booking", 1))
TOOLS: Weighted = (
    ("exec", 40), ("read", 18), ("write", 9), ("edit", 8), ("web_fetch", 7), ("web_search", 6), ("browser", 5),
    ("memory_search", 3), ("cron", 2), ("image", 1), ("message", 1),
)  # fmt: skip
FULL = 1_000
"""So many of the newest blocks have texts of real length; what lies before has short ones, so that ten million events
are made in an hour and not in three. They are as many rows, in as many indexes."""

FAILS = 0.05
COMMON, RARE, NEVER = "deploy", "quokka", "axolotl"
"""A word of one event in forty, of one in five thousand, and of none."""

SYLLABLES = [consonant + vowel for consonant in "bdklmnprstv" for vowel in "aeio"]
CJK = (
    "予約確認取消東京大阪明日会議資料更新完了失敗接続再試行请检查日志文件服务器连接超时用户订单数据备份成功"
    "처리완료오류확인"
)
TRACE = "Traceback (most recent call last):\n{frames}\n{error}"
FRAME = '  File "/srv/{0}/{1}.py", line {2}, in {3}\n    return self.{3}({1}, {0})'


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that an agent did or that was said: a tool call with its result, or a message."""

    number: int
    at_ms: int
    agent: str
    session: str
    run: str
    call: str = ""
    tool: str = ""
    params: Any = None
    text: str = ""
    error: str = ""
    took_ms: int = 0
    role: str = ""
    image: str = ""

    @property
    def key(self) -> str:
        """The session's key."""
        return f"agent:{self.agent}:{self.session[:8]}"


class Traffic:
    """All that happens, by number: 0 is the newest event."""

    def __init__(
        self, words: int = 4_000_000, *, agents: Weighted = AGENTS, session: int = SESSION, scale: float = 1.0
    ) -> None:
        """Make the text that everything is cut from: so many words, of which few are frequent and many are rare.

        `session` is the events of one session, a divisor of `BLOCK`; `scale` makes texts longer, exponentially.
        """
        self._agents, self._session, self._scale = agents, session, scale
        dice = random.Random(SEED)
        vocabulary = [_word(dice) for _ in range(40_000)]
        weights = list(accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))
        parts = (dice.choices(vocabulary, cum_weights=weights, k=100_000) for _ in range(max(1, words // 100_000)))
        self._text = " ".join(" ".join(part) for part in parts)

    def events(self, number: int) -> Iterator[Happening]:
        """Yield the newest `number` events, oldest first; a multiple of `BLOCK`."""
        for block in reversed(range(number // BLOCK)):
            yield from self._block(block)

    def _block(self, block: int) -> Iterator[Happening]:
        dice = random.Random(SEED * 1_000_003 + block)
        for place in range(BLOCK):
            number = (block + 1) * BLOCK - 1 - place
            at_ms = END_MS - round((number + 1) * STEP_MS) + dice.randrange(1000)
            part = place // self._session
            agent = _chosen(self._agents, random.Random(block * 10 + part))
            session, run = _uuid("session", block, part), _uuid("run", block, place // 8)
            make = self._message if place % 8 in (0, 7) else self._call
            scale = 0.0 if block >= FULL else self._scale
            yield make(dice, place, scale, number=number, at_ms=at_ms, agent=agent, session=session, run=run)

    def _message(self, dice: random.Random, place: int, scale: float, **where: Any) -> Happening:
        role = "user" if place % 8 == 0 else "assistant"
        return Happening(text=self._said(dice, 4.6 * scale, scale), role=role, **where)

    def _call(self, dice: random.Random, place: int, scale: float, **where: Any) -> Happening:
        del place
        tool = _chosen(TOOLS, dice)
        failed = dice.random() < FAILS
        error = f"{_word(dice).title()}Error: {self._piece(dice, 60)}" if failed else ""
        text = (
            _trace(dice, error)
            if failed and dice.random() < 0.4 * scale
            else self._said(dice, 5.6 * scale, 1.25 * scale)
        )
        image = _image(dice) if tool == "image" and dice.random() < 0.05 else ""
        return Happening(
            call=f"call_{dice.getrandbits(64):016x}", tool=tool, params=self._params(tool, dice, scale), text=text,
            error=error, took_ms=round(dice.lognormvariate(6, 1.5)), image=image, **where,
        )  # fmt: skip

    def _params(self, tool: str, dice: random.Random, scale: float) -> Line:
        path = f"/srv/{_word(dice)}/{_word(dice)}-{dice.randrange(10_000)}.txt"
        if tool == "exec":
            return {"command": f"{_word(dice)} --{_word(dice)}={dice.randrange(1000)} {path}", "timeout": 120}
        if tool in ("read", "edit", "image"):
            return {"path": path, "offset": dice.randrange(5_000)}
        if tool == "write":
            return {"path": path, "content": self._said(dice, 5.0 * scale, scale)}
        if tool in ("web_fetch", "browser"):
            return {"url": f"https://{_word(dice)}.example/{_word(dice)}?id={dice.getrandbits(40):x}"}
        return {"query": self._piece(dice, 40)}

    def _said(self, dice: random.Random, mean: float, spread: float) -> str:
        """Return a text of heavy-tailed length: most are short, some have tens of thousands of characters."""
        text = self._piece(dice, min(60_000, max(12, round(dice.lognormvariate(mean, spread)))))
        if dice.random() < 0.05:
            text += " " + "".join(dice.choices(CJK, k=min(400, len(text) // 2)))
        if dice.random() < 1 / 40:
            text += f" {COMMON}"
        return f"{RARE} {text}" if dice.random() < 1 / 5_000 else text

    def _piece(self, dice: random.Random, length: int) -> str:
        begin = dice.randrange(max(1, len(self._text) - length))
        return self._text[begin : begin + length]


def said_in(one: Happening) -> str:
    """Return all text of an event, for counting words in it by hand."""
    return " ".join((one.text, one.error, json.dumps(one.params, ensure_ascii=False) if one.params else ""))


def holds(one: Happening, word: str) -> bool:
    """Whether an event's text holds a word, whole."""
    text = said_in(one)
    return word in text and re.search(rf"\b{word}\b", text) is not None


def _uuid(what: str, block: int, part: int) -> str:
    return str(UUID(hashlib.md5(f"{what} {block} {part}".encode(), usedforsecurity=False).hexdigest()))


def _word(dice: random.Random) -> str:
    return "".join(dice.choices(SYLLABLES, k=dice.choice((2, 2, 3, 3, 4))))


def _image(dice: random.Random) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + dice.randbytes(6_000)).decode()


def _chosen(weighted: Weighted, dice: random.Random) -> str:
    return dice.choices([name for name, _ in weighted], [weight for _, weight in weighted])[0]


def _trace(dice: random.Random, error: str) -> str:
    frames = (
        FRAME.format(_word(dice), _word(dice), dice.randrange(900), _word(dice)) for _ in range(dice.randint(4, 25))
    )
    return TRACE.format(frames="\n".join(frames), error=error)
