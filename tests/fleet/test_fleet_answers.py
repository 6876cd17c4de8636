"""The same questions give the same answers, whether the memory is asked or the fleet that it was pushed to."""

from __future__ import annotations

import inspect
import random
import re
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_days import ODD, lines
from lab import Lab
from limpet import coverage, recall, timeline
from limpet.errors import BadInput, NotUnderstood
from limpet.model import STATUSES, TRUSTS, TYPES, Query
from limpet.push.pusher import Pusher
from limpet.question import parse
from limpet.store import finding, port
from limpet.store.postgres import opening
from limpet.store.postgres.store import FleetStore
from limpet.store.sql import MARK, QUERIES, queries
from limpet.store.sqlite import SqliteStore
from question_forms import NOW, at, forms
from question_noise import fuzzed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.model import Answer
    from limpet.store.port import Store
    from postgres import Server

NOW_MS = at(NOW)
NAMES = {"tool": frozenset({"exec", "read", "book_reservation", "think"}), "agent": frozenset({"night", "desk"})}
WATCHED = coverage.Watched(now_ms=NOW_MS)
Both = tuple[SqliteStore, FleetStore]


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Record some thousand events, push them, and open both stores."""
    lab = Lab(tmp_path_factory.mktemp("both"))
    lab.take(lines(1500))
    url = server.make("answers")
    opening.prepare(url)
    with closing(SqliteStore(lab.db, writing=True)) as store:
        Pusher(store, url).push(dict)
    with ExitStack() as stack:
        here = stack.enter_context(closing(SqliteStore(lab.db, writing=False)))
        there = stack.enter_context(closing(FleetStore.open(url)))
        yield here, there


def answered(store: Store, query: Query) -> Answer:
    """Return a store's answer to a query."""
    with store.snapshot():
        return recall.answer(store, query, WATCHED)


def understood(question: str) -> Query | None:
    """Return a question, understood; None for one that is refused."""
    try:
        return parse(question, NOW_MS, "Europe/Berlin", NAMES)
    except (NotUnderstood, BadInput):
        return None


def test_three_hundred_questions_have_equal_answers(both: Both):
    """Every form of question_forms: the count, the events shown, the groups and the coverage are the same."""
    here, there = both
    asked = [query for form in forms(number=300) if (query := understood(form.question))]
    unlike = [query.understood for query in asked if answered(here, query) != answered(there, query)]
    found = [query for query in asked if answered(there, query).count]
    assert unlike == []
    assert len(asked) > 300
    assert len(found) > 150


def test_random_questions_have_equal_answers(both: Both):
    """A hundred and fifty random and mutated questions that are understood."""
    here, there = both
    asked = [query for question in fuzzed(1500, 77) if (query := understood(question))][:150]
    assert [query.understood for query in asked if answered(here, query) != answered(there, query)] == []
    assert len(asked) == 150


WORDS = st.one_of(
    st.sampled_from(["insurance", "travel insurance", "backup", "disk full", "数据", "库", "备", "snake_case", "hosts:42", "istanbul"]),
    st.sampled_from(ODD).flatmap(lambda odd: st.integers(0, 20).map(lambda n: odd[n : n + 12])),
    st.text(max_size=5),
)  # fmt: skip
FILTERS = st.one_of(
    st.tuples(st.just("type"), st.lists(st.sampled_from([*TYPES, "decision"]), min_size=1, max_size=2).map(tuple)),
    st.tuples(st.just("status"), st.lists(st.sampled_from(STATUSES), min_size=1, max_size=2).map(tuple)),
    st.tuples(st.just("trust"), st.lists(st.sampled_from(TRUSTS), min_size=1, max_size=2).map(tuple)),
    st.tuples(st.just("agent"), st.sampled_from([("night",), ("desk", "nobody"), ("main",)])),
    st.tuples(st.just("tool"), st.sampled_from([("exec",), ("read", "think")])),
    st.tuples(st.just("session"), st.sampled_from([("s-3",), ("agent:night:s-1",)])),
    st.tuples(st.just("run"), st.sampled_from([("r-1",), ("r-100", "r-7")])),
    st.tuples(st.just("call"), st.sampled_from([("c-1",), ("child-run",)])),
    st.tuples(st.just("actor"), st.sampled_from([("user",), ("system", "agent")])),
    st.tuples(st.just("label"), st.sampled_from([("heartbeat",), ("own",)])),
    st.tuples(st.just("source"), st.sampled_from([("openclaw.hooks",), ("limpet",), ("",)])),
    st.tuples(st.just("is"), st.just(("error",))),
)
BY = st.sampled_from(["", "", "day", "hour", "week", "month", "tool", "agent", "session", "status", "type", "run",
                      "trust", "source", "label", "actor"])  # fmt: skip


@st.composite
def any_query(draw: st.DrawFn) -> Query:
    """Draw a query of any shape."""
    first = draw(st.none() | st.integers(at("2026-08-20T00:00:00+02:00"), NOW_MS))
    last = draw(st.none() | st.integers(at("2026-08-20T00:00:00+02:00"), NOW_MS))
    chosen = draw(st.lists(FILTERS, max_size=3))
    return Query(
        since_ms=first, until_ms=last, zone="Europe/Berlin",
        filters=tuple((name, values, draw(st.booleans())) for name, values in chosen),
        words=tuple(draw(st.lists(WORDS, max_size=2))), without=tuple(draw(st.lists(WORDS, max_size=1))),
        by=draw(BY), count=draw(st.sampled_from(["", "", "", "session", "agent", "tool", "run"])),
        limit=draw(st.sampled_from([1, 5, 50])), offset=draw(st.sampled_from([0, 0, 3])),
        sort=draw(st.sampled_from(["newest", "oldest", "slowest", "fastest"])),
        take=draw(st.sampled_from([0, 0, 5])), noise=draw(st.booleans()),
    )  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(query=any_query())
def test_any_query_has_equal_answers(both: Both, query: Query):
    """Filters, denied ones, words of any script, groups, orders, pages: both stores say the same."""
    here, there = both
    assert answered(here, query) == answered(there, query)


def test_a_text_of_every_script_is_found_by_its_own_words(both: Both):
    """What is found at all is found in both: the property above is not one of empty answers."""
    here, there = both
    words = [
        "数据库",
        "库",
        "Größe",
        "snake_case_name",
        "메시지",
        "istanbul",
        "needle",
        "日本語",
        "travel insurance, travel",
    ]
    found = [[answered(store, Query(words=(word,), noise=True)).count for word in words] for store in both]
    assert found[0] == found[1]
    assert all(found[0])
    assert here is not there


def test_sessions_and_single_events_are_told_alike(both: Both):
    """A session's timeline, an event by its number and the records behind it are the same."""
    here, there = both
    told = []
    for store in both:
        with store.snapshot():
            events = timeline.events_of(store, "s-3", children=True, limit=10_000)
            ids = [event.id for event in random.Random(3).sample(list(events), 50)]
            places = [sorted(store.events.places([number])) for number in ids]
            records = [store.records.fetch(place >> 12 for place in held) for held in places]
            told.append((events, [store.find.by_id(number) for number in ids], places, records))
    assert told[0] == told[1]
    assert len(told[0][0]) > 200
    assert here.find.names("tool").sort() == there.find.names("tool").sort()
    assert here.find.bounds() == there.find.bounds()


def test_every_named_query_of_the_fleet_has_the_parameters_of_its_twin():
    """The two dialects differ in SQL alone: same names, same parameters, beside those that say whose rows."""
    named = re.compile(r"(?<!:):([a-z_]\w*)|(\?)")
    sqlite, postgres = queries("sqlite"), queries("postgres")
    ours = {"where.always", "where.nothing", "where.words", "where.phrase", "machines"}
    unlike = [
        name for name in postgres.keys() - ours
        if {*named.findall(sqlite[name])} != {*named.findall(postgres[name])} - {("machines", ""), ("stride", "")}
    ]  # fmt: skip
    assert unlike == []


def test_whatever_is_read_of_events_can_be_asked_of_both_stores():
    """Each query by which a verb of the port reads events, and each piece of one, is in both dialects."""
    verbs = [getattr(finding.Finder, name) for name in vars(port.Finding) if not name.startswith("_")]
    named = {name for verb in verbs for name in re.findall(r'_sql\["([\w.]+)"\]', inspect.getsource(verb))}
    families = ("where.", "order.", "counts.", "column.", "names_of_kind.")
    named |= {name for name in queries("sqlite") if name.startswith(families)}
    assert named - queries("postgres").keys() == set()
    assert len(named) > 50


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "search", "push", "scratch"])
def test_every_query_has_a_name_of_its_own(dialect: str):
    """Of two with one name the first would never be asked."""
    names = re.findall(rf"(?m)^{MARK} (\S+)$", (QUERIES / f"{dialect}.sql").read_text("utf-8"))
    assert sorted(set(names)) == sorted(names)
