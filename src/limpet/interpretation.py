"""Events made from records, in a store: every record of the same thing is gathered first. Not for taking records in."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

from limpet.interpreter import making
from limpet.interpreter.places import place_of
from limpet.model import COUNTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from limpet.model import Event, Fact, Record
    from limpet.store.events import EventTable
    from limpet.store.finding import Finder
    from limpet.store.records import Records
    from limpet.store.state import State

REMEMBERED = 5_000
"""Records whose facts are kept in memory: a call's end mostly follows its beginning within that many."""

REMEMBERED_TEXT = 16 << 20
"""Characters of text that are kept until the index takes them in; past that they are read again."""


class Tables(Protocol):
    """Where records are read and events are written: a store, or a scratch copy of its events."""

    records: Records
    events: EventTable
    state: State
    find: Finder


class Interpretation:
    """Makes events; writes happen inside the caller's transaction."""

    def __init__(self, store: Tables) -> None:
        """Read records from, and write events to, these tables."""
        self._store = store
        self._facts: OrderedDict[int, Sequence[Fact]] = OrderedDict()
        self._texts: dict[int, str] = {}

    def take(self, records: Sequence[Record]) -> None:
        """Make the events that these records, and every earlier record of the same things, tell of."""
        said = [fact for record in records for fact in self._read(record)]
        self._store.state.put_counted(fact for fact in said if fact.type == COUNTED)
        facts = {fact.place: fact for fact in said if fact.type != COUNTED}
        old = self._gather(facts)
        events = making.events_of(facts.values())
        self._store.events.replace(old, events)
        self._settle(events)
        self._texts.update((event.id, event.text) for event in events)

    def unmake(self, records: Sequence[Record]) -> None:
        """Make the events that these records tell of anew, without them: they are about to lose their content."""
        gone = {record.no for record in records}
        old = self._store.events.of_records(gone)
        facts = {fact.place: fact for fact in self.facts_of_events(old)}
        old |= self._gather(facts)  # with one occurrence of a key gone, the others may belong together otherwise
        self._store.events.release(gone, old, {f"{f.type} {key}" for f in facts.values() for key in f.keys})
        rest = [fact for place, fact in facts.items() if place[0] not in gone]
        self._store.events.replace(old, making.events_of(rest))
        for number in gone:
            self._facts.pop(number, None)
        self._texts.clear()

    def texts_of(self, positions: list[int]) -> Mapping[int, str]:
        """Return the text to index of the events at these positions."""
        ids = self._store.events.ids_at(positions)
        texts = self.texts_by_id(ids.values())
        said = {pos: texts.get(number, "") for pos, number in ids.items()}
        for number in ids.values():
            self._texts.pop(number, None)
        return said

    def texts_by_id(self, ids: Iterable[int]) -> Mapping[int, str]:
        """Return the text of each of these events."""
        missing = [number for number in ids if number not in self._texts]
        if missing:
            facts = list(self.facts_of_events(missing))
            self._texts.update((event.id, event.text) for event in making.events_of(facts))
        return self._texts

    def new_texts(self) -> Mapping[int, str]:
        """Return the texts of the events that were made since this was asked last, by id; they are not kept."""
        texts, self._texts = self._texts, {}
        return texts

    def facts_of_events(self, ids: Iterable[int]) -> Iterator[Fact]:
        """Yield every fact that these events were made from."""
        places = {place_of(number) for number in self._store.events.places(ids)}
        unread = {no for no, _ in places} - self._facts.keys()
        for record in self._store.records.fetch(unread):
            self._read(record)
        for place in places:
            yield from (fact for fact in self._facts.get(place[0], ()) if fact.place == place)

    def forget(self) -> None:
        """Forget what is kept in memory: somebody else has changed the store."""
        self._facts.clear()
        self._texts.clear()

    def shrink(self) -> None:
        """Keep in memory only what is likely to be asked for again."""
        if sum(map(len, self._texts.values())) > REMEMBERED_TEXT:
            self._texts.clear()
        while len(self._facts) > REMEMBERED:
            self._facts.popitem(last=False)

    def _gather(self, facts: dict[tuple[int, int], Fact]) -> set[int]:
        """Add to `facts` all that share a key with them, directly or through others; return their present events."""
        asked: set[str] = set()
        old: set[int] = set()
        while new := {f"{fact.type} {key}" for fact in facts.values() for key in fact.keys} - asked:
            asked |= new
            found = self._store.events.with_keys(new) - old
            old |= found
            for fact in self.facts_of_events(found):
                facts.setdefault(fact.place, fact)
        return old

    def _read(self, record: Record) -> Sequence[Fact]:
        facts = making.facts_of(record)
        self._facts[record.no] = facts
        return facts

    def _settle(self, events: Sequence[Event]) -> None:
        """Give what has no end the status that the evidence allows: the new, and what this batch throws light on."""
        waiting = {event.id for event in events if event.open}
        if any(event.type == "gateway" or "restart" in event.flags for event in events):
            waiting.update(self._store.events.opened())
        elif runs := {event.run for event in events if event.type == "run" and event.run}:
            waiting.update(self._store.events.opened(runs))
        self.settle(waiting)

    def settle(self, waiting: Iterable[int]) -> None:
        """Give these events, none of which has an end, the status that the evidence allows."""
        table = self._store.events
        for number in waiting:
            event = self._store.find.by_id(number)
            if event is None:
                continue
            cut_off = "synthetic" in event.flags or table.restarted_after(event)
            status = making.status_without_end(event.type, ended=table.has_ended(event.run), restarted=cut_off)
            if status != event.status:
                table.set_status(number, status)
