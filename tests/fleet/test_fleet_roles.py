"""Who may do what in a fleet: a pusher appends, a reader reads, and a tenant sees its own rows and no others."""

from __future__ import annotations

import itertools
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import psycopg
import pytest
from psycopg import errors

from lab import NOON, Lab, call, hook
from limpet import coverage, recall
from limpet.errors import Unavailable
from limpet.model import Query
from limpet.push.pusher import Pusher
from limpet.store.postgres import opening
from limpet.store.postgres.store import FleetStore
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.model import Answer
    from postgres import Server

TABLES = ("fleet", "member", "machine", "record", "body", "event", "sighting", "stream", "stage_record", "stage_body",
          "stage_event", "stage_stream", "stage_amended", "record_other", "event_other", "event_2026_06", "events")  # fmt: skip
TAKE = "SELECT limpet.take(0, gen_random_uuid(), 2, 0, 0, 0, '{}', '{}')"
READABLE = {"fleet", "machine", "record", "body", "event", "sighting", "stream", "events"}


class Fleet(NamedTuple):
    """A fleet of two tenants, each with a pusher and a reader; each pusher has pushed one machine."""

    server: Server
    name: str

    def url(self, role: str) -> str:
        """Return a role's address."""
        return self.server.url(self.name, role)

    def allows(self, role: str, text: str) -> bool:
        """Whether a role may run this SQL."""
        try:
            self.server.run(self.name, text, role)
        except errors.InsufficientPrivilege:
            return False
        return True


@pytest.fixture(scope="module")
def two(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Make the fleet of two tenants."""
    fleet = Fleet(server, "tenants")
    opening.prepare(server.make(fleet.name))
    for tenant in ("red", "blue"):
        server.role(fleet.name, f"{tenant}_pusher", tenant, "pusher")
        server.role(fleet.name, f"{tenant}_reader", tenant, "reader")
        lab = Lab(tmp_path_factory.mktemp(tenant))
        large = {"plan": f"{tenant} " * 600}
        lab.take(
            [call("c1", 0), hook("limpet_add", {"type": "plan", "summary": f"{tenant} plan", "details": large}, 5)]
        )
        push(lab, fleet.url(f"{tenant}_pusher"), tenant)
    yield fleet
    server.run("postgres", "DROP DATABASE tenants WITH (FORCE)")
    for tenant, kind in itertools.product(("red", "blue"), ("pusher", "reader")):
        server.run("postgres", f"DROP ROLE {tenant}_{kind}")


def push(lab: Lab, url: str, name: str) -> None:
    """Push a memory."""
    with closing(SqliteStore(lab.db, writing=True)) as store:
        Pusher(store, url, name=name).push(dict)


def answered(url: str, *words: str) -> Answer:
    """Return what is found at an address."""
    with closing(FleetStore.open(url)) as store, store.snapshot():
        return recall.answer(store, Query(words=words, noise=True), coverage.Watched(now_ms=NOON))


def test_a_reader_can_only_read(two: Fleet):
    """It reads the tables that answers come from, and nothing may it insert, change, delete, empty or drop."""
    reads = {table for table in TABLES if two.allows("red_reader", f"SELECT * FROM limpet.{table}")}
    writes = [
        text
        for table in TABLES
        for text in (
            f"INSERT INTO limpet.{table} DEFAULT VALUES",
            f"DELETE FROM limpet.{table}",
            f"TRUNCATE limpet.{table}",
            f"DROP TABLE limpet.{table}",
            f"CREATE INDEX ON limpet.{table} ((1))",
        )
        if table != "events" and two.allows("red_reader", text)
    ]
    assert (reads, []) == (READABLE, writes)
    assert not two.allows("red_reader", "UPDATE limpet.event SET summary = ''")
    assert not two.allows("red_reader", "UPDATE limpet.record SET bytes = NULL")
    assert not two.allows("red_reader", "SELECT limpet.hello('red')")
    assert not two.allows("red_reader", "SELECT limpet.admit('red_reader', 'blue', 'reader')")
    assert not two.allows("red_reader", TAKE)


def test_a_reader_cannot_push(two: Fleet, lab: Lab):
    """The push says so in a sentence."""
    lab.take([call("c1", 0)])
    with pytest.raises(Unavailable) as refused:
        push(lab, two.url("red_reader"), "red")
    assert refused.value.code == "no_permission"


def test_a_pusher_can_only_append(two: Fleet):
    """It can neither read nor change nor delete anything: not the ledger, not the events, not what lies in the stage."""
    reads = {table for table in TABLES if two.allows("red_pusher", f"SELECT * FROM limpet.{table}")}
    changes = [
        text
        for table in TABLES
        for text in (f"DELETE FROM limpet.{table}", f"TRUNCATE limpet.{table}")
        if table != "events" and two.allows("red_pusher", text)
    ]
    assert ({"fleet"}, []) == (reads, changes)
    assert not two.allows("red_pusher", "UPDATE limpet.record SET bytes = NULL")
    assert not two.allows("red_pusher", "INSERT INTO limpet.event (machine) VALUES (0)")
    assert not two.allows("red_pusher", "INSERT INTO limpet.member VALUES ('red_pusher', 'blue', 'reader')")


def test_a_tenant_sees_nothing_of_another(two: Fleet):
    """Every row that a reader sees is its own tenant's, by any way of asking."""
    for table in ("machine", "record", "body", "event", "sighting", "stream"):
        seen = two.server.run(two.name, f"SELECT DISTINCT tenant FROM limpet.{table}", "red_reader")
        assert {("red",)} >= set(seen)
    assert two.server.run(two.name, "SELECT name FROM limpet.machine", "red_reader") == [("red",)]
    assert two.server.run(two.name, "SELECT count(*) FROM limpet.events", "red_reader")[0][0] == 2
    assert two.server.run(two.name, "SELECT count(*) FROM limpet.events")[0][0] == 4
    everyone = "SELECT count(*) FROM limpet.holding('{}', '{0,1,2,3}', 0, 9223372036854775807)"
    assert two.server.run(two.name, everyone, "red_reader")[0][0] == 2


def test_an_answer_holds_only_the_own_tenants_events(two: Fleet):
    """Also where a word is looked for that only another tenant's event has."""
    assert (answered(two.url("red_reader")).count, answered(two.url("blue_reader")).count) == (2, 2)
    assert (answered(two.url("red_reader"), "red").count, answered(two.url("red_reader"), "blue").count) == (1, 0)
    assert answered(two.server.url(two.name)).count == 4


def test_a_pusher_reaches_no_machine_of_another_role(two: Fleet, lab: Lab):
    """The same name is another machine in another tenant, and the function that takes in knows whose is whose."""
    lab.take([call("c1", 0), call("c2", 1)])
    push(lab, two.url("blue_pusher"), "red")
    names = two.server.run(two.name, "SELECT tenant, name FROM limpet.machine ORDER BY machine")
    assert names == [("red", "red"), ("blue", "blue"), ("blue", "red")]
    with pytest.raises(psycopg.Error, match="another role"):
        two.server.run(two.name, TAKE, "blue_pusher")


def test_the_stage_is_empty_after_every_push(two: Fleet):
    """Nothing of a batch stays behind where it was laid down."""
    stages = [table for table in TABLES if table.startswith("stage_")]
    assert [two.server.run(two.name, f"SELECT count(*) FROM limpet.{table}")[0][0] for table in stages] == [0] * 5


@pytest.mark.parametrize(
    "says", ["[]", "1", '{"counts": 1}', '{"watches": {}}', '{"now_ms": "x"}', '{"counts": {"a": "\\u0000"}}', "{"]
)
def test_a_pusher_cannot_spoil_the_answers_about_all_machines(two: Fleet, says: str):
    """What a machine says of itself is only taken in as it can be read; else one of them would stop the whole tenant."""
    take = f"SELECT limpet.take(machine, gen_random_uuid(), records, 0, sent, sent, '{{}}', '{says}') FROM limpet.hello('red')"
    with pytest.raises(psycopg.Error):
        two.server.run(two.name, take, "red_pusher")
    assert answered(two.url("red_reader")).count == 2


def test_a_role_pushes_for_one_tenant_only(two: Fleet):
    """Letting it into a second one is refused, not passed over; letting it in twice changes nothing."""
    two.server.run(two.name, "SELECT limpet.admit('red_pusher', 'red', 'pusher')")
    with pytest.raises(psycopg.errors.UniqueViolation, match="member_pusher"):
        two.server.run(two.name, "SELECT limpet.admit('red_pusher', 'blue', 'pusher')")
