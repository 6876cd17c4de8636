"""When something is wrong the page says what, and what to do: a used link, an unknown name, a database out of reach."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from lab import Lab, call, ended, hook, kill, until
from visitor import Visitor, browser, opened, stranger, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = ("/", "/ask?q=errors", "/session/s-1", "/event/4096", "/notes", "/health", "/live")
CALLS = ("/api/ask?q=errors", "/api/recent", "/api/session/s-1", "/api/event/4096", "/api/status")


@pytest.fixture
def used(lab: Lab) -> Lab:
    """Record one session with one call."""
    lab.take([hook("session_start", {"sessionId": "s-1"}), call("c1", 5)])
    return lab


@pytest.fixture
def visitor(used: Lab) -> Iterator[Visitor]:
    """Serve its page."""
    with visiting(used) as someone:
        yield someone


@pytest.mark.parametrize(
    ("status", "path", "says", "hint"),
    [
        (403, "/enter?key=1", "This link was used already, or is too old.", "limpet open"),
        (404, "/session/nobody", "There is no session", "limpet recent"),
        (404, "/event/999999999", "There is no event 999999999.", "limpet recent"),
        (400, "/event/none", "is no event number.", "limpet recent"),
        (400, "/ask?q=failed+tool+cals", "Not understood", "Did you mean"),
        (400, "/?day=2026-13-01", "is no day.", "For example"),
        (400, "/?day=2999-01-01", "is still to come", "Choose a day"),
        (400, "/?day=2011-12-30&tz=Pacific/Apia", "There was no 2011-12-30 in Pacific/Apia.", "Choose the day"),
        (400, "/notes?day=soon", "is no day.", "For example"),
        (400, "/live?tz=Nowhere/Here", "There is no time zone", "For example"),
        (404, "/static/nothing.js", "There is no such page.", "first page"),
        (404, "/static/../keys.py", "There is no such page.", "first page"),
        (404, "/nothing", "There is no such page.", "first page"),
    ],
)
def test_a_page_says_what_is_wrong_and_what_to_do(
    visitor: Visitor, status: int, path: str, says: str, hint: str
) -> None:
    """What was asked for wrongly gets a page with a sentence and a hint."""
    reply = browser(visitor).get(path)
    assert status == reply.status
    assert says in reply.text
    assert hint in reply.text


def test_without_a_key_a_page_says_how_to_get_one(visitor: Visitor) -> None:
    """Whoever comes without a cookie is told of `limpet open`, and of nothing that was recorded."""
    reply = stranger(visitor).get("/session/s-1")
    assert reply.status == 401
    assert "limpet open" in reply.text
    assert "make c1" not in reply.text


def test_a_damaged_database_is_said(used: Lab) -> None:
    """Every page and every call says that the database is damaged, and none of them fails otherwise."""
    with visiting(used) as someone:
        content = used.db.read_bytes()
        used.db.with_name(used.db.name + "-wal").unlink(missing_ok=True)
        used.db.write_bytes(content[:100] + bytes(len(content) - 100))
        for path in (*PAGES, *CALLS):
            reply = someone.get(path)
            assert (path, 503) == (path, reply.status)
            assert (
                "damaged" in reply.text or "not a Limpet database" in reply.text or "no Limpet database" in reply.text
            )


def test_a_file_that_is_no_database_is_said(used: Lab) -> None:
    """A text file in the database's place is named as such."""
    with visiting(used) as someone:
        used.db.write_bytes(b"this is no database " * 500)
        for path in ("/", "/ask?q=errors", "/api/status"):
            reply = someone.get(path)
            assert (path, 503) == (path, reply.status)
            assert "is not a SQLite database" in reply.text


def test_a_database_that_others_write_is_read(used: Lab) -> None:
    """Readers of a write-ahead log need not wait for a writer."""
    with visiting(used) as someone, closing(sqlite3.connect(used.db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert someone.get("/").status == 200
        other.execute("ROLLBACK")


@pytest.mark.parametrize(
    "paths", [(PAGES[0], CALLS[0]), pytest.param((*PAGES, *CALLS), marks=pytest.mark.soak)], ids=["one of each", "all"]
)
def test_a_locked_database_is_said(used: Lab, paths: tuple[str, ...]) -> None:
    """While another program has the database for itself every page says so and what to do, and works afterwards."""
    with closing(sqlite3.connect(used.db, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with visiting(used) as someone:
            for path in paths:
                reply = someone.get(path)
                assert (path, 503) == (path, reply.status)
                assert "locked" in reply.text
                assert "end that program" in reply.text
            other.execute("ROLLBACK")
            other.close()
            until(lambda: someone.get("/").status == 200, "the page works again")


def test_a_database_that_is_damaged_while_a_page_is_read_is_said(used: Lab) -> None:
    """What is found damaged after the page has begun is said where the page ends then, with what to do."""
    with visiting(used) as someone:
        with closing(sqlite3.connect(used.db, isolation_level=None)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (root,) = other.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'tally'").fetchone()
            (page_size,) = other.execute("PRAGMA page_size").fetchone()
        with used.db.open("r+b") as file:
            file.seek((root - 1) * page_size)
            file.write(b"\xff" * page_size)
        reply = someone.get("/health")
        assert 'role="alert"' in reply.text
        assert "damaged" in reply.text
        assert "load the page again" in reply.text


def test_the_link_to_all_open_ends_leads_to_as_many(lab: Lab) -> None:
    """What has no end by its nature, as the start of a gateway, is none of them there either."""
    lab.take([hook("gateway_start", {"port": 1}), *(call(f"c{n}", 10 * n, begins=True) for n in range(14))])
    with visiting(lab) as someone:
        page = someone.get("/", day="2026-06-01").text
        link = re.search(r'href="/ask\?(q=type[^"]*)">All 14<', page)
        assert link
        assert "<strong>14</strong>" in someone.send("GET", f"/ask?{unquote(link[1])}").text


def test_a_memory_that_is_not_there_yet_is_said(lab: Lab) -> None:
    """Before anything was recorded every page can be read, and says so."""
    with visiting(lab) as someone:
        for path in ("/", "/ask", "/notes", "/health", "/live", "/api/status"):
            assert (path, 200) == (path, someone.get(path).status)


def test_the_page_ends_with_its_sidecar(used: Lab) -> None:
    """A sidecar that is killed takes its page along, and one that ends properly does, too."""
    with used.sidecar() as process:
        someone = opened(used)
        kill(process)
        until(lambda: is_closed(someone), "the page has ended")
    with visiting(used) as someone:
        pass
    assert is_closed(someone)


def test_a_sidecar_of_its_own_serves_the_page(used: Lab) -> None:
    """Where no sidecar runs `limpet open` is one: it records, serves the page, and ends with both when told to."""
    process = used.start("open", "--no-browser", "--json")
    assert process.stdout is not None
    try:
        someone = Visitor.of(used, json.loads(process.stdout.readline()))
        used.spool([call("c2", 50)], producer="later")
        until(lambda: someone.get("/ask?q=everything").status == 200 and "make c2" in someone.get("/live").text, "c2")
    finally:
        process.terminate()
        done = ended(process)
    assert (done.status, is_closed(someone)) == (0, True)


def is_closed(visitor: Visitor) -> bool:
    """Whether nobody listens at the page's port any more."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", visitor.port)) != 0


def test_looking_changes_nothing(used: Lab) -> None:
    """All pages and calls leave every table as it was."""
    with visiting(used) as someone:
        before = [used.events(), used.records()]
        for path in (*PAGES, *CALLS, "/ask.csv?q=errors", "/suggest?q=e", "/live/rows?after=0"):
            assert someone.get(path).status == 200
        assert before == [used.events(), used.records()]
