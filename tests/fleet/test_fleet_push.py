"""What is pushed is in the fleet exactly once, whoever is killed in between, and follows every change."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, call, hook, kill, numbered
from limpet import fleet as fleet_module
from limpet import recall
from limpet.errors import Unavailable
from limpet.model import Query
from limpet.push import batch
from limpet.push.pusher import Pushed, Pusher
from limpet.store.postgres import opening
from limpet.store.postgres.store import FleetStore
from limpet.store.sqlite import SqliteStore
from postgres import Server, serving

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from limpet.push.target import Target

SMALL_BATCHES = """
import sys
from limpet.push import batch
from limpet.cli import main
batch.RECORDS = batch.CHANGES = batch.SLICE = 5
sys.exit(main.main(["push", "--json", *sys.argv[1:]]))
"""
EVERYTHING = Query(sort="oldest", limit=1_000_000, noise=True)


def push(lab: Lab, url: str, name: str = "") -> Pushed:
    """Push a memory in this process."""
    with closing(SqliteStore(lab.db, writing=True)) as store:
        return Pusher(store, url, name=name).push(dict)


def there(url: str) -> list[object]:
    """Return every event of a fleet, oldest first."""
    with closing(FleetStore.open(url)) as store:
        return list(store.find.page(EVERYTHING))


def faults(url: str) -> tuple[str, ...]:
    """Return what is wrong with the chains of a fleet."""
    with closing(FleetStore.open(url)) as store, store.snapshot():
        return fleet_module.verify(store, lambda _: None).faults


def found_there(url: str, word: str) -> int:
    """Return how many events of a fleet hold a word."""
    with closing(FleetStore.open(url)) as store, store.snapshot():
        return recall.part(store, Query(words=(word,), noise=True)).count


def rows(server: Server, database: str, table: str) -> int:
    """Return how many rows a table of the fleet has."""
    return int(server.run(database, f"SELECT count(*) FROM limpet.{table}")[0][0])


def said(number: int, agent: str = "main") -> list[dict[str, object]]:
    """Return so many lines, each an event of its own."""
    return numbered(
        [hook("limpet_add", {"type": "remark", "summary": f"remark {n}"}, n, agentId=agent) for n in range(number)]
    )


def test_a_push_brings_everything_once_and_a_second_one_nothing(lab: Lab, server: Server, fleet: str):
    """Records and events are all there; pushing again brings and changes nothing."""
    here = lab.take(said(60))
    first, second = (push(lab, server.url(fleet)) for _ in range(2))
    assert (first.records, first.events, first.head) == (60, 60, 60)
    assert (second.records, second.events, second.head) == (0, 0, 60)
    assert here == there(server.url(fleet))
    assert faults(server.url(fleet)) == ()


def test_an_event_that_grows_is_replaced_there(lab: Lab, server: Server, fleet: str):
    """A call whose end comes later is one event there as well, with the end's status."""
    url = server.url(fleet)
    lab.take([call("c1", 0, begins=True), call("c2", 5, begins=True)])
    push(lab, url)
    here = lab.take([call("c1", 40_000_000_000, error="boom")])
    push(lab, url)
    assert sorted(event.status for event in here) == ["failed", "started"]
    assert here == there(url)


def test_events_that_become_one_are_one_there_and_keep_their_numbers(lab: Lab, server: Server, fleet: str):
    """Two witnesses' events, pushed apart, are one after they were joined; the old number still finds it."""
    url = server.url(fleet)
    one, other = {"messageId": "m-1", "content": "hello"}, {"role": "user", "content": "hello", "idempotencyKey": "k"}
    lab.take([hook("message_received", one), hook("before_message_write", {"message": other}, 1)])
    push(lab, url)
    before = there(url)
    joins = {**other, "__openclaw": {"transport": {"messageId": "m-1"}}}
    here = lab.take([hook("before_message_write", {"message": joins}, 2)])
    push(lab, url)
    with closing(FleetStore.open(url)) as store, lab.store() as local:
        numbers = [event.id for event in before]
        assert [local.events.resolve(n) for n in numbers] == [store.events.resolve(n) for n in numbers]
    assert (len(before), len(here)) == (2, 1)
    assert here == there(url)


def test_a_rebuild_here_is_the_same_there(lab: Lab, server: Server, fleet: str):
    """Every event is made and sent anew, and none stays behind."""
    here = lab.take(said(40))
    push(lab, server.url(fleet))
    assert lab.limpet("rebuild").status == 0
    push(lab, server.url(fleet))
    assert here == lab.events() == there(server.url(fleet))


def test_what_is_forgotten_here_is_erased_there(lab: Lab, server: Server, fleet: str):
    """A record loses bytes and nonce there, its event and its large text go, and the chain verifies."""
    url = server.url(fleet)
    large = "quarterly plan " * 400
    lab.take([*said(5), hook("limpet_add", {"type": "plan", "summary": "x", "details": {"plan": large}}, 9)])
    push(lab, url)
    assert (rows(server, fleet, "record WHERE bytes IS NOT NULL"), rows(server, fleet, "body")) == (6, 1)
    assert lab.limpet("forget", "type:plan", "--yes").status == 0
    push(lab, url)
    kept = server.run(fleet, "SELECT no FROM limpet.record WHERE bytes IS NOT NULL OR nonce IS NOT NULL ORDER BY no")
    assert kept == [(1,), (2,), (3,), (4,), (5,), (7,)]  # the last one says what was forgotten
    assert rows(server, fleet, "body") == 0
    assert there(url) == lab.events()
    assert faults(url) == ()


def test_what_is_redacted_again_here_is_redacted_there(lab: Lab, server: Server, fleet: str):
    """A secret of a kind that was learnt later goes from record, event and text index there; the new bytes are vouched for."""
    url = server.url(fleet)
    lab.take([*said(3), hook("limpet_add", {"type": "remark", "summary": "badge ACME-123456"}, 9), call("c1", 20)])
    push(lab, url)
    assert found_there(url, "ACME-123456") == 1
    (lab.home / "config.toml").write_text('[secrets]\n"acme badge" = "ACME-[0-9]{6}"\n')
    assert lab.limpet("redact", "--again").status == 0
    push(lab, url)
    with closing(FleetStore.open(url)) as store:
        assert not any("ACME-123456" in str(one.record.body) for one in store.records.after(0, 1000))
    assert found_there(url, "ACME-123456") == 0
    assert there(url) == lab.events()
    assert faults(url) == ()


@pytest.mark.parametrize("before", [True, False], ids=["pushed before", "never pushed"])
def test_what_is_pruned_here_is_pruned_there(lab: Lab, server: Server, fleet: str, before: bool):
    """Old contents and events go there as well, or never come; the chain verifies from where the ledger begins."""
    url = server.url(fleet)
    old = [hook("limpet_add", {"type": "remark", "summary": f"old {n}"}, n) for n in range(4)]
    lab.take([{**line, "id": f"01970000-0000-7000-8000-00000000000{n}"} for n, line in enumerate(old)])
    if before:
        push(lab, url)
    later = 800 * 86_400_000
    lab.take([hook("limpet_add", {"type": "remark", "summary": "new"}, later)])
    done = lab.limpet("prune", "--older-than", "365", "--yes", "--now", str(NOON + later + 86_400_000))
    assert done.status == 0, done.err
    push(lab, url)
    here = lab.events()
    assert [event.summary[:12] for event in here] == ["new", "dropped 4 re"]
    assert there(url) == here
    assert rows(server, fleet, "record WHERE no <= 4 AND bytes IS NOT NULL") == 0
    assert faults(url) == ()


def test_content_that_goes_with_no_word_about_it_is_told(lab: Lab, server: Server, fleet: str):
    """Bytes that were taken out behind Limpet's back are gone there as well, and the check there says so."""
    lab.take(said(5))
    push(lab, server.url(fleet))
    with closing(SqliteStore(lab.db, writing=True)) as store, store.transaction():
        store.connection.execute("DELETE FROM content WHERE no = 3")
    push(lab, server.url(fleet))
    assert rows(server, fleet, "record WHERE bytes IS NOT NULL") == 4
    assert faults(server.url(fleet)) == ("record 3 has lost the content, and no record says that it was forgotten",)


def test_a_server_that_is_away_costs_nothing(lab: Lab):
    """While nobody answers each push fails with a clear error; afterwards everything comes, also what was added since."""
    with serving() as server:
        url = server.make("away")
        opening.prepare(url)
        lab.take(said(20))
        push(lab, url)
        server.stop()
        lab.take([call(f"c{n}", n) for n in range(30)])
        with pytest.raises(Unavailable, match="cannot be reached") as refused:
            push(lab, url)
        assert refused.value.code == "unreachable"
        here = lab.take([call("late", 77)])
        server.start()
        push(lab, url)
        assert here == there(url)


def test_a_fleet_that_was_put_back_gets_again_what_it_lost(lab: Lab, server: Server, fleet: str):
    """From an older copy of the fleet's database the push goes on, whatever this machine had struck out already."""
    lab.take(said(10))
    push(lab, server.url(fleet))
    server.run("postgres", f"CREATE DATABASE {fleet}_old TEMPLATE {fleet}")
    here = lab.take([call("c1", 5, begins=True), call("c1", 9)])
    push(lab, server.url(fleet))
    push(lab, server.url(f"{fleet}_old"))
    assert here == there(server.url(f"{fleet}_old")) == there(server.url(fleet))
    push(lab, server.url(fleet))
    assert here == there(server.url(fleet))


@pytest.mark.parametrize("back", [True, False], ids=["the fleet was put back", "another fleet in between"])
def test_what_was_forgotten_meanwhile_is_erased_there_as_well(lab: Lab, server: Server, fleet: str, back: bool):
    """A fleet that is told again of what was erased keeps no event of it, neither its text nor its index."""
    old = server.url(f"{fleet}_old")
    lab.take([*said(5), hook("limpet_add", {"type": "plan", "summary": "a private plan"}, 9)])
    push(lab, server.url(fleet))
    server.run("postgres", f"CREATE DATABASE {fleet}_old TEMPLATE {fleet}")
    if not back:
        opening.prepare(server.make(f"{fleet}_two"))
        push(lab, server.url(f"{fleet}_two"))
    assert lab.limpet("forget", "type:plan", "--yes").status == 0
    push(lab, server.url(fleet if back else f"{fleet}_two"))
    push(lab, old)
    assert there(old) == lab.events()
    assert found_there(old, "private") == 0
    assert faults(old) == ()


def test_a_memory_that_was_put_back_brings_what_it_recorded_since(lab: Lab, server: Server, fleet: str):
    """The fleet counts changes that the copy never knew: no later change is taken for one of them."""
    url, copy = server.url(fleet), lab.folder / "copy.db"
    lab.take(said(20))
    push(lab, url)
    with closing(SqliteStore(lab.db, writing=True)) as store:
        store.copy_to(copy)
    assert lab.limpet("rebuild").status == 0
    push(lab, url)
    for path in (*lab.db.parent.glob(f"{lab.db.name}-*"), *lab.db.parent.glob("*.search.db*")):
        path.unlink()
    copy.replace(lab.db)
    here = lab.take(numbered([call(f"late{n}", n) for n in range(60)], after=20), segment=2)
    push(lab, url)
    assert here == there(url)
    assert faults(url) == ()


def test_a_push_that_died_after_its_batch_was_taken_in_sends_nothing_again(
    lab: Lab, server: Server, fleet: str, monkeypatch: pytest.MonkeyPatch
):
    """What the fleet holds and this side did not hear of is known by the number that was noted before."""
    url = server.url(fleet)
    here = lab.take(said(30))
    strike_out = Pusher._strike_out
    left = iter(range(2))

    def dies(pusher: Pusher, target: Target) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        strike_out(pusher, target)

    monkeypatch.setattr(batch, "CHANGES", 5)
    monkeypatch.setattr(batch, "SLICE", 5)
    with monkeypatch.context() as dying:
        dying.setattr(Pusher, "_strike_out", dies)
        with pytest.raises(KeyboardInterrupt):
            push(lab, url)
    assert len(there(url)) == 10
    assert push(lab, url).events == 20
    assert here == there(url)


def test_another_ledger_whose_beginning_was_dropped_is_refused_too(
    lab: Lab, server: Server, fleet: str, tmp_path: Path
):
    """Where nothing can be compared, only who pushed under that name before goes on."""
    other, url = Lab(tmp_path / "other"), server.url(fleet)
    lab.take(said(3))
    push(lab, url, "web-1")
    old = [hook("limpet_add", {"type": "remark", "summary": f"old {n}"}, n) for n in range(4)]
    other.take([{**line, "id": f"01970000-0000-7000-8000-00000000000{n}"} for n, line in enumerate(old)])
    later = 800 * 86_400_000
    other.take([hook("limpet_add", {"type": "remark", "summary": "new"}, later)])
    done = other.limpet("prune", "--older-than", "365", "--yes", "--now", str(NOON + later + 86_400_000))
    assert done.status == 0, done.err
    with pytest.raises(Unavailable) as refused:
        push(other, url, "web-1")
    assert refused.value.code == "other_ledger"
    assert there(url) == lab.events()


def test_another_ledger_under_the_same_name_is_refused(lab: Lab, server: Server, fleet: str, tmp_path: Path):
    """A machine cannot overwrite another one's ledger; under a name of its own it is let in."""
    url = server.url(fleet)
    other = Lab(tmp_path / "other")
    lab.take(said(3))
    here = other.take(said(5))
    push(lab, url, "web-1")
    with pytest.raises(Unavailable) as refused:
        push(other, url, "web-1")
    assert refused.value.code == "other_ledger"
    push(other, url, "web-2")
    assert here == there(f"{url}&machine=web-2")
    assert len(there(url)) == 8
    assert faults(url) == ()


def test_two_pushes_at_once_bring_everything_once(lab: Lab, server: Server, fleet: str):
    """Of two at the same database one goes first, and nothing is there twice."""
    here = lab.take(said(300))
    both = [lab.code_started(SMALL_BATCHES, server.url(fleet)) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    for process in both:
        process.communicate()
    assert here == there(server.url(fleet))
    assert (rows(server, fleet, "record"), rows(server, fleet, "event")) == (300, 300)


def finished(process: subprocess.Popen[str]) -> int:
    """Wait for a push, however long it takes, and return how it ended."""
    process.communicate()
    return process.returncode


def killed_at_random(
    server: Server, labs: list[Lab], seed: int, kills: int, start: Callable[[Lab], subprocess.Popen[str]]
) -> int:
    """Let every memory push, kill pushers at random and twice the server, until all have ended well."""
    chance = random.Random(seed)
    running = {n: start(lab) for n, lab in enumerate(labs)}
    crashes = {kills // 3, 2 * kills // 3}
    killed = 0
    for number in range(kills):
        time.sleep(chance.uniform(0.1, 1.0))
        if number in crashes:
            server.stop(signal.SIGQUIT)
            time.sleep(chance.uniform(0.0, 0.5))
            server.start()
        chosen = chance.choice(list(running))
        killed += running[chosen].poll() is None
        kill(running[chosen])
        running[chosen] = start(labs[chosen])
    for n, process in running.items():
        while finished(process) != 0:
            process = start(labs[n])  # noqa: PLW2901 - what was refused is tried again
    return killed


def test_pushers_and_a_server_that_are_killed_at_random_lose_and_double_nothing(tmp_path: Path):
    """Three memories of 400 events, pushed in small batches with eight kills and two crashes of the server."""
    labs = [Lab(tmp_path / f"machine{n}") for n in range(3)]
    here = [lab.take(said(400, f"agent{n}")) for n, lab in enumerate(labs)]
    with serving() as server:
        url = server.make("kills")
        opening.prepare(url)
        killed = killed_at_random(server, labs, 4, 8, lambda lab: lab.code_started(SMALL_BATCHES, url))
        assert (rows(server, "kills", "record"), rows(server, "kills", "event")) == (1200, 1200)
        assert faults(url) == ()
        assert killed > 0
        with closing(FleetStore.open(url)) as store:
            told = [store.of(machine).find.page(EVERYTHING) for machine in store.machines]
    assert sorted(map(repr, here)) == sorted(map(repr, told))


def test_a_batch_stays_small_however_large_the_records_are(lab: Lab):
    """Thirty records of 400,000 characters are read in many batches, each little more than its measure."""
    large = [
        hook("limpet_add", {"type": "x", "summary": "x", "details": os.urandom(200_000).hex()}, n) for n in range(30)
    ]
    lab.take(large)
    sizes, head = [], 0
    with closing(SqliteStore(lab.db, writing=False)) as store:
        reader = batch.Reader(store)
        while head < 30:
            part = reader.next(head, 0)
            sizes.append(sum(len(row[-1] or b"") for table in part.rows.values() for row in table))
            head = part.head
    assert max(sizes) < batch.BYTES + 500_000
    assert len(sizes) > 1


@pytest.mark.parametrize("version", [18])
def test_a_newer_postgresql_does_as_well(lab: Lab, version: int):
    """The schema, a push, an answer and a check of the chain on another version of the server."""
    here = lab.take(said(25))
    with serving(version) as server:
        url = server.make("newer")
        opening.prepare(url)
        push(lab, url)
        assert there(url) == here
        assert faults(url) == ()


@pytest.mark.soak
def test_eight_sidecars_with_twenty_thousand_events_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Pushed at once, the server killed and started again, each pusher killed at random: exactly 160,000."""
    labs = [Lab(tmp_path / f"machine{n}") for n in range(8)]
    for n, lab in enumerate(labs):
        lab.take(said(20_000, f"agent{n}"))
    with serving() as server:
        url = server.make("soak")
        opening.prepare(url)
        killed = killed_at_random(server, labs, 8, 40, lambda lab: lab.start("push", "--json", url))
        assert killed >= 8
        assert (rows(server, "soak", "record"), rows(server, "soak", "event")) == (160_000, 160_000)
        assert faults(url) == ()
        ratio = _ratio(server, labs[0])
    with capsys.disabled():
        print(f"\n{killed} pushers killed; a push of 20,000 took {ratio:.1f} times as long as plain COPYs of its rows")


def _ratio(server: Server, lab: Lab) -> float:
    """Return how much longer a push takes than plain COPYs of the same rows into tables without index or constraint."""
    import psycopg

    url = server.make("ratio")
    opening.prepare(url)
    start = time.monotonic()
    push(lab, url)
    pushed_s = time.monotonic() - start
    tables = ("record", "event")
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        told = {}
        for table in tables:
            connection.execute(f"CREATE TABLE public.{table} AS SELECT * FROM limpet.{table} LIMIT 0")
            with connection.cursor().copy(f"COPY (SELECT * FROM limpet.{table}) TO STDOUT") as copy:
                told[table] = b"".join(bytes(piece) for piece in copy)
        start = time.monotonic()
        for table in tables:
            with connection.cursor().copy(f"COPY public.{table} FROM STDIN") as copy:
                copy.write(told[table])
        return pushed_s / (time.monotonic() - start)
