"""The port: what services ask of a store, whichever database it stands on. Verbs of the domain; no SQL.

`SqliteStore` is one machine's memory, `FleetStore` that of many machines; recall, coverage, timeline, verification and
`Memory` know only this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from limpet.model import Event, Json, Query, Record
    from limpet.store.connection import Hits
    from limpet.store.finding import Attempt, Line
    from limpet.store.records import Stored
    from limpet.store.state import Counted, Stream, Watch


class Finding(Protocol):
    """Reading events."""

    def count(self, query: Query, hits: Hits = ...) -> int:
        """Return the exact number of events that match."""

    def page(self, query: Query, hits: Hits = ...) -> list[Event]:
        """Return the part of the matches that sort, limit and offset name."""

    def at(self, positions: Sequence[int]) -> list[Event]:
        """Return the events that stand at these positions, in this order."""

    def outline(self, query: Query) -> list[Line]:
        """Return the matches that `page` would, as lines."""

    def attempts(self, positions: Sequence[int]) -> list[Attempt]:
        """Return what was tried at these positions, in this order."""

    def news(self, first: int, most: int) -> list[Event]:
        """Return the newest events, at most so many, of which records from this place on tell."""

    def positions(self, query: Query, hits: Hits = ...) -> list[int]:
        """Return where every match stands, newest first."""

    def groups(self, query: Query, hits: Hits = ...) -> list[tuple[str, int]]:
        """Return how many matches there are by `query.by`, most first."""

    def times(self, query: Query, hits: Hits = ...) -> list[tuple[int, int]]:
        """Return (quarter of an hour in epoch milliseconds, count)."""

    def pairs(self, query: Query, hits: Hits = ...) -> list[tuple[int, str, str]]:
        """Return each different (quarter of an hour, name of `query.by`, name of `query.count`)."""

    def touched(self, first: int) -> list[tuple[int, str]]:
        """Return (quarter of an hour, agent) of what records from this place on tell of."""

    def by_id(self, number: int) -> Event | None:
        """Return the event with this id."""

    def names(self, kind: str) -> list[str]:
        """Return every name of a kind (`tool`, `agent`) that an event carries."""

    def bounds(self) -> tuple[int | None, int | None, int]:
        """Return the first and the last event's time and how many there are."""

    def agents_since(self, first: int) -> list[str]:
        """Return every agent that an event names whose number is not below this one."""

    def first_ms(self) -> int | None:
        """Return when the first event was."""

    def newest_ms(self) -> int | None:
        """Return when the newest record arrived."""

    def last_record(self) -> tuple[int | None, int, int]:
        """Return when the newest record arrived, how many there are, and the newest number."""

    def last_of(self, source: str) -> int | None:
        """Return when the newest record of a source arrived; None where it is not among the newest of all."""

    def unseen_by(self, witness: str, since_ms: int, after_ms: int, until_ms: int) -> tuple[int, int | None]:
        """Return how many calls and messages, and from when on, a witness missed that told of their agent before."""

    def seen_by_both(self, one: str, other: str, since_ms: int, until_ms: int) -> bool:
        """Whether two witnesses tell of the same event in this span."""

    def last_calls(self, since_ms: int) -> list[tuple[str, int]]:
        """Return (status, time) of the newest tool calls that are not under way, newest first."""

    def next_session(self, event: Event) -> tuple[int, str] | None:
        """Return when, and which, other session went on under the same key."""

    def children(self, session: str, session_key: str) -> list[tuple[str | None, str | None, str | None]]:
        """Return (session key, session, run) of each subagent that this session started."""


class Events(Protocol):
    """How events hang together with records and with each other."""

    def with_keys(self, keys: Iterable[str]) -> set[int]:
        """Return the ids of events that have one of these keys."""

    def places(self, ids: Iterable[int]) -> set[int]:
        """Return the places (as event ids) of every fact that these events were made from."""

    def resolve(self, number: int) -> int:
        """Return the event that holds this id now."""


class Ledger(Protocol):
    """Reading the ledger."""

    def head(self) -> tuple[int, bytes]:
        """Return the newest record's number and hash."""

    def fetch(self, numbers: Iterable[int]) -> list[Record]:
        """Return the records with these numbers that still have their content, oldest first."""

    def stored(self, numbers: Iterable[int]) -> list[Stored]:
        """Return the records with these numbers as they stand, oldest first."""

    def after(self, no: int, most: int) -> list[Stored]:
        """Return up to `most` records after this number, as they stand."""


class States(Protocol):
    """What a store knows of its own work."""

    def cursor(self, source: str) -> dict[str, Json]:
        """Return how far a source was read."""

    def counts(self) -> dict[str, int]:
        """Return the plain counts."""

    def streams(self) -> list[Stream]:
        """Return every stream, the one that spoke last at the end."""

    def last_words(self) -> list[tuple[str, str, int, int]]:
        """Return (producer, kind, number, arrival) of what plugins said lately of themselves, in their own order."""

    def last_beat(self) -> tuple[int, int] | None:
        """Return the plugin's last word that it lives, a record's number, and since when it does; None: long ago."""

    def watches(self) -> list[Watch]:
        """Return how each source stands."""

    def counted(self, since_ms: int, until_ms: int) -> Counted:
        """Hold what the audit ledger counted in a span against the events."""

    def meta(self, name: str) -> str | None:
        """Return a named value."""


class Store(Protocol):
    """One store, open for reading."""

    @property
    def find(self) -> Finding:
        """Reading events."""

    @property
    def events(self) -> Events:
        """How events hang together."""

    @property
    def records(self) -> Ledger:
        """Reading the ledger."""

    @property
    def state(self) -> States:
        """What the store knows of its own work."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Read everything within as of one moment; raises Unavailable."""

    def hits(self, wanted: Sequence[str] | None, unwanted: Sequence[str], since: int, until: int) -> Hits:
        """Return what full text leaves: all of `wanted` (None: no matter) and none of `unwanted`, in [since, until).

        The terms are those of `tokens.asked`; the bounds are positions.
        """

    def hit_pages(self, wanted: Sequence[str], since: int, until: int) -> Iterator[Hits]:
        """Yield what full text leaves in pieces, newest first, so that who wants few need not read all."""

    def stale(self) -> int:
        """Return how many events full text does not know of yet."""

    def close(self) -> None:
        """Close the store."""
