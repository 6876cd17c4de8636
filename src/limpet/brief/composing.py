"""From a digest to a brief: what is said first, and how much of the rest there is room for. Pure.

A brief has two parts that never mix: Limpet's own sentences (`telling`), and quotations in a frame (`quotes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from limpet.brief import quotes, telling
from limpet.brief.tokens import tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from limpet.brief.digest import Digest
    from limpet.brief.ends import End
    from limpet.brief.standing import Standing
    from limpet.brief.times import Times
    from limpet.model import Event

TOKENS = 600
FEWEST_TOKENS, MOST_TOKENS = 200, 8000
FIRST_ENDS, FIRST_SESSIONS = 4, 2
"""So many come before anything is quoted; more follow where there is room."""

MOST_ENDS, MOST_SESSIONS, MOST_EVENTS_QUOTED = 40, 20, 12
RESERVE = 52
"""Tokens kept for what is said last: how much was left out, and what the plugin may have to say in front."""

OWN_SHARE, LEAST_OWN = 0.7, 260
"""Limpet's own sentences take so much of a brief, and so many tokens at least, before anything is quoted."""

FOOT = "The tool memory_show shows an event by its number."


@dataclass(frozen=True, slots=True)
class Brief:
    """What one audience of an agent is told: `own` goes into the system's part, `quoted` into the first message.

    `told` are the events that are quoted; `at_ms` is the moment as of which it is true.
    """

    agent: str
    audience: str
    at_ms: int
    own: str
    quoted: str = ""
    told: tuple[int, ...] = ()

    @property
    def tokens(self) -> int:
        """How many tokens both parts are counted as."""
        return tokens_of(self.own) + tokens_of(self.quoted)


@dataclass(frozen=True, slots=True)
class Given:
    """What is the same for all audiences of an agent.

    `called` are the names of the digests' spans; `period` is the time in which open ends were looked for, in words.
    """

    standing: Standing
    times: Times
    called: Mapping[str, str]
    period: str
    tokens: int = TOKENS


@dataclass(slots=True)
class Page:
    """A brief while it is written: `left` tokens are free."""

    times: Times
    left: int
    head: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    foot: list[str] = field(default_factory=list)
    quoted: list[tuple[int, str]] = field(default_factory=list)

    def say(self, lines: list[str], said: Iterable[str]) -> None:
        """Add the lines that there is room for."""
        lines.extend(line for line in said if self._takes(line))

    def quote(self, event: Event, quotation: str) -> None:
        """Add a quotation where there is room for it, and, with the first one, for its frame."""
        frame = 0 if self.quoted else tokens_of(quotes.within_frame(["{}"], self.times))
        if all(number != event.id for number, _ in self.quoted) and self._takes(quotation, frame):
            self.quoted.append((event.id, quotation))

    def _takes(self, line: str, more: int = 0) -> bool:
        cost = tokens_of(line) + 2 + more  # what joins two lines
        if cost > self.left:
            return False
        self.left -= cost
        return True


def compose(agent: str, audience: str, digest: Digest | None, given: Given) -> Brief:
    """Return the brief of an audience, never of too many tokens; `digest` is None where nothing is known."""
    room = given.tokens - RESERVE
    own = min(room, max(round(room * OWN_SHARE), LEAST_OWN))
    page = Page(given.times, own)
    page.say(page.head, given.standing.alert())
    page.say(page.head, _title(given.times))
    page.say(page.head, given.standing.sentences(given.times))
    if digest is None:
        page.say(page.head, [f"Of this conversation nothing is known {given.period}."])
    else:
        _fill(page, digest, given, room - own)
    return _finished(page, Brief(agent, audience, given.times.now_ms, ""), digest, given.tokens)


def _title(times: Times) -> Iterator[str]:
    yield f"Limpet's memory of this agent, as of {times.full(times.now_ms)}; all times are {times.zone}."


def _fill(page: Page, digest: Digest, given: Given, rest: int) -> None:
    """Say first what must not be missed, and quote what there is room for then: what is quoted goes with its turn."""
    times, ends = given.times, digest.ends.left(given.times.now_ms)
    first, *others = telling.spans(digest, given.called)
    told = [telling.end(end, times) for end in ends[:MOST_ENDS]]
    page.say(page.ends, [f"Open ends {given.period}: {len(ends):,}\n{told[0]}"] if told else [])
    page.say(page.head, [first, *telling.beats(digest, "day")])
    page.say(page.ends, told[1:FIRST_ENDS] if told else [f"Open ends {given.period}: none."])
    page.say(page.head, [*others, telling.since_talk(digest, times)])
    sessions = [telling.session(one, times) for one in reversed(digest.sessions.values())][:MOST_SESSIONS]
    _list(page, sessions[:FIRST_SESSIONS])
    page.say(page.foot, [FOOT])
    page.left += rest
    for event in _worth_quoting(digest, ends):
        page.quote(event, quotes.of_event(event, times))
    page.say(page.ends, told[FIRST_ENDS:])
    _list(page, sessions)
    if ends and (left_out := len(ends) - len(page.ends)):
        page.ends.append(f"- and {left_out:,} older ones")


def _list(page: Page, sessions: list[str]) -> None:
    """Add the sessions that are not there yet, the first with the heading of all."""
    if sessions and not page.sessions:
        page.say(page.sessions, [f"Sessions:\n{sessions[0]}"])
    if page.sessions:
        page.say(page.sessions, sessions[len(page.sessions) :])


def _worth_quoting(digest: Digest, ends: Sequence[End]) -> list[Event]:
    """Return what is quoted, best first: open ends, and in turn what was written or added (field case F79)."""
    said = sorted((*digest.added, *digest.asked), key=lambda event: (-event.at_ms, -event.id))
    pairs = zip_longest((end.event for end in ends[:FIRST_ENDS]), said[:MOST_EVENTS_QUOTED])
    return [event for pair in pairs for event in pair if event is not None]


def _finished(page: Page, brief: Brief, digest: Digest | None, tokens: int) -> Brief:
    """Put the parts together; what single lines were counted too low is taken off the quotations."""
    quoted = list(page.quoted)
    while True:
        own = "\n".join((*page.head, *page.ends, *page.sessions, *_left_out(digest, quoted), *page.foot))
        framed = quotes.within_frame([quotation for _, quotation in quoted], page.times)
        done = Brief(brief.agent, brief.audience, brief.at_ms, own, framed, tuple(number for number, _ in quoted))
        if done.tokens <= tokens - PREFACE or not quoted:
            return done
        quoted.pop()


PREFACE = 19
"""Of the reserve, what the plugin may need to say that the brief is old."""


def _left_out(digest: Digest | None, quoted: list[tuple[int, str]]) -> Iterator[str]:
    if digest is None:
        return
    known = {event.id for event in (*digest.asked, *digest.added)}
    told = len(known & {number for number, _ in quoted})
    if known:
        yield f"Quoted in the first message: {told} of {len(known)} messages and notes."
