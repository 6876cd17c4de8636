"""A damaged database: moved aside with its log, what can be read brought back, and recording goes on, loudly."""

from __future__ import annotations

import random
import signal
import time
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from lab import Lab, call, hook, kill, numbered, until
from limpet import rescue
from test_alarm import configure, write_program

if TYPE_CHECKING:
    from pathlib import Path

PAGE = 4096


def notes(count: int, after: int = 0) -> list[dict]:
    """Return lines of notes, each about 600 bytes, so that a few hundred fill many pages."""
    said = [
        hook("limpet_add", {"type": "note", "summary": f"note {n}", "details": {"x": f"{n:x}" * 300}}, n)
        for n in range(after, after + count)
    ]
    return numbered(said, after)


def spoil(path: Path, pages: range | list[int]) -> None:
    """Overwrite pages of a database with what means nothing."""
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * PAGE)
            file.write(random.Random(page).randbytes(PAGE))


def checkpointed(connection: apsw.Connection) -> bool:
    """Move what is in the log into the file; False while somebody reads or writes."""
    return connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() == [(0, 0, 0)]


def content_pages(db: Path) -> list[int]:
    """Return the pages that hold the bytes of records."""
    with closing(apsw.Connection(str(db))) as connection:
        until(lambda: checkpointed(connection), "all of the log is in the file")
        query = (
            "SELECT pageno - 1 FROM dbstat WHERE name = 'content' AND pagetype IN ('leaf', 'overflow') ORDER BY pageno"
        )
        return [int(page) for (page,) in connection.execute(query)]


def aside(lab: Lab) -> list[str]:
    """Return what was moved aside."""
    return sorted(path.name for path in lab.db.parent.glob("*.damaged-*"))


def replaced(lab: Lab) -> bool:
    """Whether a new database stands in the damaged one's place."""
    return bool(aside(lab)) and not lab.db.with_name(f"{lab.db.name}.rescue").exists() and not rescue.look(lab.settings)


def summaries(lab: Lab, *kinds: str) -> list[str]:
    """Return what events of these types say."""
    return [event.summary for event in lab.events(*kinds)]


def test_a_database_damaged_before_the_run_is_moved_aside_and_read_back(lab: Lab):
    """What lies on pages that are whole is back under its old number; what does not is a gap; new events follow."""
    lab.take(notes(400))
    before = {event.id: event.summary for event in lab.events("note")}
    pages = content_pages(lab.db)
    spoil(lab.db, pages[len(pages) // 2 : len(pages) // 2 + 3])
    lab.spool(notes(5, after=400), segment=2)
    with lab.sidecar() as sidecar:
        until(lambda: replaced(lab) and "note 404" in summaries(lab, "note"), "recording goes on")
        said = lab.limpet("status")
        sidecar.terminate()
        _, err = sidecar.communicate()
    after = {event.id: event.summary for event in lab.events("note")}
    back = {number: summary for number, summary in after.items() if number in before}
    assert back.items() <= before.items()
    assert 300 < len(back) < 400
    assert {f"note {n}" for n in range(400, 405)} <= set(after.values())
    (gap,) = summaries(lab, "gap")
    (told,) = summaries(lab, "error")
    assert gap == f"{400 - len(back)} records could not be read back from a damaged database"
    assert told.startswith("the database was damaged: ")
    assert lab.verdict().faults == ()
    assert f"{told.partition(': ')[2].partition(' could')[0]} were read back, and recording goes on in a new one" in err
    assert said.status == 0
    assert "damaged-" in said.out


def test_a_database_without_its_head_is_read_back_whole(lab: Lab):
    """The first hundred bytes hold nothing that anybody told."""
    lab.take(notes(40))
    before = lab.events("note")
    content_pages(lab.db)  # all is in the file
    with lab.db.open("r+b") as file:
        file.write(random.Random(1).randbytes(100))
    done = rescue.rescue(lab.settings, lambda _: None)
    assert (done.records, done.lost, lab.events("note")) == (40, 0, before)
    lab.drain()
    assert lab.verdict().faults == ()
    assert not list(lab.db.parent.glob("*.rescue*"))


def test_of_a_database_that_was_cut_short_it_is_known_how_much_is_lost(lab: Lab):
    """What lies before the cut can be read, as far as its pages hang together."""
    lab.take(notes(400))
    pages = content_pages(lab.db)
    with lab.db.open("r+b") as file:
        file.truncate(pages[len(pages) // 2] * PAGE)
    done = rescue.rescue(lab.settings, lambda _: None)
    assert done.records + done.lost == 400
    assert done.records > 0
    lab.drain()
    assert lab.verdict().faults == ()


def test_a_database_damaged_during_the_run_is_told_to_somebody(lab: Lab):
    """The sidecar runs into it, or looks once a day; the way is the one of every alarm."""
    write_program(lab.folder / "bin", "pen")
    configure(lab, f'on_alarm = "{lab.folder}/bin/pen"', "alarm_after_s = 1")
    with lab.sidecar():
        lab.spool(notes(200))
        until(lambda: len(lab.events("note")) == 200, "the sidecar records")
        spoil(lab.db, content_pages(lab.db)[5:7])
        spoil(lab.db, range(1))
        until(lambda: replaced(lab), "the watch, which opens it anew each time, has met it")
        lab.spool(notes(5, after=200), segment=2)
        until(lambda: "note 204" in summaries(lab, "note"), "recording goes on")
        until((lab.folder / "told").exists, "somebody is told")
    assert "The database was damaged and lies at" in (lab.folder / "told").read_text()
    assert lab.verdict().faults == ()


def test_of_a_database_without_a_header_nothing_is_left_but_what_witnesses_hold(lab: Lab):
    """Nothing can be read of it; the file is kept, and what comes next is recorded."""
    lab.take(notes(50))
    spoil(lab.db, range(1))
    lab.spool(notes(5, after=50), segment=2)
    with lab.sidecar():
        until(lambda: replaced(lab) and "note 54" in summaries(lab, "note"), "recording goes on")
    assert summaries(lab, "note") == [f"note {n}" for n in range(50, 55)]
    assert lab.verdict().faults == ()


def test_the_log_goes_with_its_database_and_is_read(lab: Lab):
    """What was committed and is only in the log is brought back; no log of the old file stays beside the new one."""
    lab.take(notes(100))
    pages = content_pages(lab.db)
    recorder = lab.start("run")
    lab.spool(notes(100, after=100), segment=2)
    until(lambda: len(lab.events("note")) == 200, "the second hundred is recorded")
    kill(recorder)
    assert lab.db.with_name(f"{lab.db.name}-wal").stat().st_size > 0
    spoil(lab.db, pages[1:2])
    done = rescue.rescue(lab.settings, lambda _: None)
    assert [name.removeprefix(done.moved_to.name) for name in aside(lab)] == ["", "-shm", "-wal"]
    lab.drain()
    assert {f"note {n}" for n in range(100, 200)} <= set(summaries(lab, "note"))
    assert lab.verdict().faults == ()


@pytest.mark.parametrize("seed", range(6))
def test_whatever_pages_are_damaged_the_rest_is_read_and_the_chain_is_whole(lab: Lab, seed: int):
    """A tenth of all pages but the first, at random: no event is made up, and none is there twice."""
    lab.take([*notes(300), *numbered([call(f"c-{n}", n) for n in range(50)], 300)])
    before = {event.id: event.summary for event in lab.events()}
    content_pages(lab.db)
    count = lab.db.stat().st_size // PAGE
    spoil(lab.db, random.Random(seed).sample(range(1, count), count // 10))
    done = rescue.rescue(lab.settings, lambda _: None)
    lab.drain()
    after = {event.id: event.summary for event in lab.events("note", "tool_call")}
    assert after.items() <= before.items()
    assert done.records == len(after)
    assert lab.verdict().faults == ()
    assert rescue.look(lab.settings) == ""


def test_a_bit_that_flipped_is_found_by_the_chain(lab: Lab):
    """A page that SQLite finds well formed and that does not say what was written."""
    lab.take(notes(20))
    lab.db.write_bytes(lab.db.read_bytes())
    with closing(apsw.Connection(str(lab.db))) as connection:
        connection.execute('UPDATE content SET codec = 0, bytes = CAST(\'{"hook":"limpet_add"}\' AS BLOB) WHERE no = 7')
    done = rescue.rescue(lab.settings, lambda _: None)
    assert (done.records, done.lost) == (19, 1)
    assert "note 6" not in summaries(lab, "note")


def test_a_rescue_that_is_killed_goes_on_with_the_next_start(lab: Lab):
    """SIGKILL at many moments: the old file or the new one is in place, and in the end all is there once."""
    lab.take(notes(2000))
    pages = content_pages(lab.db)
    spoil(lab.db, pages[3:4])
    whole = lab.db.read_bytes()
    code = (
        "from limpet import rescue, settings; s = settings.load(); rescue.settle(s) or rescue.rescue(s, lambda _: None)"
    )
    killed = 0
    for n in range(12):
        process = lab.python("-c", code)
        time.sleep(0.25 + n * 0.05)
        killed += process.poll() is None
        kill(process)
        if not rescue.look(lab.settings):
            break
    assert killed > 2
    if not rescue.settle(lab.settings) and rescue.look(lab.settings):
        assert lab.db.read_bytes() == whole
        rescue.rescue(lab.settings, lambda _: None)
    lab.drain()
    found = summaries(lab, "note")
    assert 1900 < len(found) < 2000
    assert len(set(found)) == len(found)
    assert lab.verdict().faults == ()
    assert len([name for name in aside(lab) if name[-1].isdigit()]) == 1


@pytest.mark.parametrize("step", ["link", "unlink", "rename"])
def test_a_kill_between_two_steps_of_the_exchange_is_made_good(lab: Lab, step: str):
    """The call that comes next never happens: the next start ends what was begun."""
    lab.take(notes(100))
    spoil(lab.db, content_pages(lab.db)[1:2])
    code = f"""
import os, signal, pathlib
from limpet import rescue, settings
def die(*args, **more): os.kill(os.getpid(), signal.SIGKILL)
whole = pathlib.Path({str(lab.db)!r} + ".rescue")
real = rescue._swap
def swap(chosen, path):
    {"os.link = die" if step == "link" else "rescue._remove = die" if step == "unlink" else "pathlib.Path.rename = die"}
    return real(chosen, path)
rescue._swap = swap
rescue.rescue(settings.load(), lambda _: None)
"""
    assert lab.code(code).status == -signal.SIGKILL
    assert lab.db.with_name(f"{lab.db.name}.rescue").exists()
    with lab.sidecar():
        lab.spool(notes(1, after=100), segment=2)
        until(lambda: "note 100" in summaries(lab, "note"), "recording goes on")
    assert len(aside(lab)) >= 1
    assert lab.verdict().faults == ()
    assert 50 < len(summaries(lab, "note")) < 101


def test_somebody_elses_file_is_never_moved(lab: Lab):
    """No database, or one of another program that is damaged: it stays where it is, and the sidecar says why."""
    lab.db.parent.mkdir(parents=True)
    lab.db.write_bytes(b"my notes\n" * 1000)
    assert rescue.look(lab.settings) == ""
    with lab.sidecar():
        lab.spool(notes(1))
        until(lambda: "is not a SQLite database" in str(lab.asked(op="hello").get("complaint")), "it complains")
    assert (aside(lab), lab.db.read_bytes()) == ([], b"my notes\n" * 1000)
    assert lab.left_in_spool() == ["plugin/1.jsonl"]


def test_a_program_that_writes_to_the_file_that_was_moved_is_refused(lab: Lab):
    """An import that began before: what it would write is lost, so it is not taken."""
    lab.take(notes(10))
    with lab.recording() as recording:
        lab.db.rename(lab.db.with_name("elsewhere"))
        with pytest.raises(Exception, match="replaced or deleted"), recording.store.transaction():
            pass
