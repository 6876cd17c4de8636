"""What a damaged database had promised holds in the new one: what was forgotten or dropped stays away, seals are named."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from agentdb import AgentDatabase, message
from lab import NOON, Lab, call, hook, until
from limpet import rescue
from limpet.checking.chain import Sealed
from limpet.runtimes.openclaw import layout
from limpet.store import graveyard
from limpet.verification import verify
from test_bundle import SCRIPT
from test_rescue import PAGE, content_pages, notes, replaced, spoil, summaries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.verification import Verdict

SECRET = "zebrafish"
DAY = 86_400_000
DAMAGES = (
    "content",
    "tombstones",
    "ledger of forgetting",
    "everything",
    "tombstones and their copy",
    "everything and the copy",
)
KNOWN = DAMAGES[:4]
"""After these it is still known what was forgotten."""


def remembered(lab: Lab) -> AgentDatabase:
    """Fill a memory from hooks and from a transcript; both told of something that is to be forgotten."""
    owner = AgentDatabase(layout.transcript_database(lab.state, "main"))
    owner.session("s-1")
    owner.append("s-1", message(1, "good morning"), message(2, f"my {SECRET} is ill"), message(3, "good night"))
    lines = [call(f"c-{n}", n, params={"command": f"feed {SECRET if n % 10 == 3 else 'cat'} {n}"}) for n in range(60)]
    lab.take([*notes(200), *lines])
    assert lab.limpet("forget", "--yes", SECRET).status == 0
    assert said_in(lab) == []
    return owner


def said_in(lab: Lab) -> list[int]:
    """Return the records in which it stands."""
    return [record.no for record in lab.records() if SECRET in str(record.body)]


def pages_of(lab: Lab, table: str) -> list[int]:
    """Return the pages that a table of the database lies on."""
    content_pages(lab.db)  # and all of the log is in the file
    with closing(apsw.Connection(str(lab.db))) as connection:
        return [int(page) for (page,) in connection.execute("SELECT pageno - 1 FROM dbstat WHERE name = ?", (table,))]


def damage(lab: Lab, what: str) -> None:
    """Damage the database, in the place that is to be tried."""
    pages = content_pages(lab.db)
    if what == "content":
        spoil(lab.db, pages[3:5])
    if "tombstones" in what:
        spoil(lab.db, pages_of(lab, "tombstone"))
    if what == "ledger of forgetting":
        spoil(lab.db, [*pages_of(lab, "tombstone"), *pages[-2:]])
    if "everything" in what:
        spoil(lab.db, range(lab.db.stat().st_size // PAGE))
    if "copy" in what:
        path = graveyard.path_of(lab.db)
        path.write_bytes(path.read_bytes()[:40] + b"x" * 40)


@pytest.mark.parametrize("what", DAMAGES)
def test_what_was_forgotten_stays_away_whatever_is_damaged(lab: Lab, what: str):
    """Hooks and transcripts are read again from their beginning, and still it does not come back, nor by a rebuild."""
    owner = remembered(lab)
    damage(lab, what)
    done = rescue.rescue(lab.settings, lambda _: None)
    lab.spool([call("again", 3, params={"command": f"feed {SECRET} 3"}, toolCallId="c-3")], producer="late")
    lab.drain()
    assert said_in(lab) == []
    assert (lab.limpet("rebuild").status, said_in(lab), lab.verdict().faults) == (0, [], ())
    told = summaries(lab, "message")
    if what in KNOWN:
        assert (done.kept_from_ms, len(told)) == (0, 2), told
    assert lab.limpet("forget", "--yes", "cat 5").status == 0
    assert lab.verdict().faults == ()
    owner.stop()


def test_where_it_is_not_known_any_more_what_was_forgotten_nothing_old_is_read_again(lab: Lab):
    """Neither the table, nor its copy, nor the ledger says it: that is told, and what comes next is recorded."""
    owner = remembered(lab)
    damage(lab, "everything and the copy")
    with lab.sidecar() as sidecar:
        until(lambda: list(lab.db.parent.glob("*.damaged-*")), "it is moved aside")
        owner.append("s-1", {**message(9, "a new day"), "timestamp": "2099-01-01T00:00:00.000Z"})
        until(lambda: "a new day" in str(summaries(lab, "message")), "recording goes on")
        sidecar.terminate()
        _, err = sidecar.communicate()
    assert len(summaries(lab, "message")) == 1
    assert "is read in again" in err
    assert lab.verdict().faults == ()
    owner.stop()


def test_where_nothing_was_ever_forgotten_all_that_witnesses_hold_comes_back(lab: Lab):
    """A file without a header: every message of the transcript is there again."""
    owner = AgentDatabase(layout.transcript_database(lab.state, "main"))
    owner.session("s-1")
    owner.append("s-1", message(1, "good morning"), message(2, "good night"))
    lab.take(notes(20))
    damage(lab, "everything")
    assert rescue.rescue(lab.settings, lambda _: None).kept_from_ms == 0
    lab.drain()
    assert len(summaries(lab, "message")) == 2
    owner.stop()


def test_a_job_of_forgetting_that_was_under_way_is_finished_in_the_new_database(lab: Lab):
    """Killed after its first step, then the database is damaged: the next sidecar erases the rest."""
    lab.take([*notes(100), *(call(f"c-{n}", n, params={"command": f"feed {SECRET} {n}"}) for n in range(50))])
    code = f"""
import os, signal
from limpet import erasing
erasing.Eraser.run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from limpet.cli.main import main
main(["forget", "--yes", {SECRET!r}])
"""
    assert lab.code(code).status < 0
    assert len(said_in(lab)) == 50
    spoil(lab.db, content_pages(lab.db)[3:5])
    with lab.sidecar():
        until(lambda: replaced(lab) and said_in(lab) == [], "it is finished")
    assert lab.verdict().faults == ()


def test_what_was_dropped_by_age_is_neither_missed_nor_read_again(lab: Lab):
    """The new ledger begins where the old one did, and tells of no loss there; old lines stay away."""
    lab.take([*(call(f"old-{n}", n) for n in range(600)), *(call(f"new-{n}", 399 * DAY + n) for n in range(200))])
    later = str(NOON + 400 * DAY)
    assert lab.limpet("prune", "--older-than", "365", "--yes", "--now", later).status == 0
    begins = lab.verdict().begins
    spoil(lab.db, content_pages(lab.db)[-2:-1])
    rescue.rescue(lab.settings, lambda _: None)
    lab.spool([call("old-7", 7), call("fresh", 399 * DAY + 999)], producer="late")
    lab.drain()
    verdict = lab.verdict()
    calls = {event.call for event in lab.events("tool_call")}
    assert (verdict.faults, verdict.begins, begins > 500) == ((), begins, True)
    assert ("fresh" in calls, [one for one in calls if str(one).startswith("old")]) == (True, [])
    assert all("could not be read back" not in one or int(one.split()[0]) < 100 for one in summaries(lab, "gap"))


def held(lab: Lab, seals: Sequence[Sealed]) -> Verdict:
    """Verify against these seals."""
    with lab.store() as store, store.snapshot_of_both():
        return verify(store, lambda _: None, seals=seals)


def test_seals_from_before_are_named_and_those_from_after_still_bind(lab: Lab):
    """The chain was begun anew: an old seal is no fault of it and proves nothing of it; a new one does."""
    lab.take(notes(100))
    assert lab.limpet("backup", "copy.db").status == 0
    old = Sealed(50, lab_hash(lab, 50), "a note of old")
    head = lab.verdict()
    spoil(lab.db, content_pages(lab.db)[3:4])
    rescue.rescue(lab.settings, lambda _: None)
    lab.take(notes(10, after=100), segment=2)
    new = Sealed(lab.verdict().records, bytes.fromhex(lab.verdict().head), "a new note")
    verdict = held(lab, [old, new])
    assert (verdict.faults, verdict.seals) == ((), 1)
    assert any("1 seal is of the ledger from before record" in one for one in verdict.remarks)
    assert any(head.head in one for one in verdict.remarks)
    assert len(held(lab, [Sealed(new.no, bytes(32), "a new note")]).faults) == 1
    assert lab.limpet("verify").status == 0
    copies = lab.limpet("forget", "--dry-run", "--json", "type:note").json["copies"]
    assert sorted(one.rpartition("/")[2].partition(".db")[0] for one in copies) == ["agent_memory", "copy"]


def lab_hash(lab: Lab, no: int) -> bytes:
    """Return the hash of a record."""
    with lab.store() as store:
        return store.records.hash_at(no) or b""


def test_a_bundle_of_a_ledger_that_was_rescued_proves_itself(lab: Lab):
    """Forgotten before and cleaned before: the script that knows nothing of Limpet finds no fault."""
    owner = remembered(lab)
    damage(lab, "content")
    rescue.rescue(lab.settings, lambda _: None)
    lab.drain()
    assert lab.limpet("export", "--bundle", "bundle").status == 0
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(lab.folder / "bundle")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "0 faults" in done.stdout) == (0, True), done.stdout
    owner.stop()


def test_nobody_from_outside_can_say_that_the_ledger_was_begun_anew(lab: Lab):
    """It would excuse every seal: such a line is kept as what somebody claims."""
    lab.take([call("c-1"), hook("limpet_rescued", {"records": 1, "lost": 0}, 5, source="limpet")])
    assert [record.kind for record in lab.records()] == ["after_tool_call", "claimed limpet_rescued"]
    assert held(lab, [Sealed(1, bytes(32), "a note")]).faults != ()
