"""The command line on a fleet: push, the reading commands with its address, verify, status, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import NOON, Done, Lab, call, ended, hook, until
from limpet import pushing
from postgres import SECRET
from visitor import Visitor

if TYPE_CHECKING:
    from postgres import Server

NOW = str(NOON + 3_600_000)


@pytest.fixture(scope="module")
def pushed(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, str]:
    """Make a fleet and push a small memory by the command line; return the memory and the fleet's address."""
    lab, url = Lab(tmp_path_factory.mktemp("day")), server.make("commands")
    child = {"childSessionKey": "agent:main:subagent:1", "agentId": "desk", "mode": "run", "runId": "child-run"}
    lab.take([
        hook("session_start", {"sessionId": "s-1"}), call("c1", 5, begins=True), call("c1", 9, error="disk full"),
        call("c2", 12), hook("subagent_spawned", child, 20),
        call("c3", 30, ctx={"sessionKey": "agent:main:subagent:1", "sessionId": "s-9", "runId": "child-run"}),
    ])  # fmt: skip
    assert lab.limpet("push", "--prepare", "--json", url).json == {"schema": 1}
    first = lab.limpet("push", "--as", "web-1", "--json", url).json
    assert first == {"machine": "web-1", "records": 6, "events": 5, "head": 6, "warning": ""}
    return lab, url


def same(lab: Lab, url: str, *command: str) -> tuple[Any, Any]:
    """Return what a command says of the memory and of the fleet, but for how complete that is."""
    told = []
    for db in ([], ["--db", url]):
        done = lab.limpet(*command, "--json", *db)
        assert done.status == 0, done.out + done.err
        told.append(done.json)
        told[-1].pop("coverage", None)
    return told[0], told[1]


@pytest.mark.parametrize(
    "command",
    [
        ("ask", "failed tool calls today", "--now", NOW),
        ("ask", "disk full", "--now", NOW),
        ("ask", "tool calls by session", "--now", NOW),
        ("recent", "--now", NOW),
        ("session", "s-1", "--children"),
    ],
)
def test_a_reading_command_says_the_same_of_the_fleet(pushed: tuple[Lab, str], command: tuple[str, ...]):
    """With the fleet's address in place of a database the JSON is the same."""
    here, there = same(*pushed, *command)
    assert here == there


def test_an_event_is_shown_with_its_records(pushed: tuple[Lab, str]):
    """By its number, as on the machine itself."""
    event = pushed[0].events("tool_call")[0]
    here, there = same(*pushed, "show", str(event.id))
    assert here == there
    assert len(there["records"]) == 2


@pytest.mark.parametrize("options", [(), ("--records",)])
def test_export_gives_the_same_lines(pushed: tuple[Lab, str], options: tuple[str, ...]):
    """Every event, and every record."""
    lab, url = pushed
    here, there = (lab.limpet("export", *options, *db).out for db in ([], ["--db", url]))
    assert here == there
    assert here


def test_a_push_says_what_it_brought(pushed: tuple[Lab, str]):
    """Of a second one, that nothing was left to bring; the name stays."""
    lab, url = pushed
    assert lab.limpet("push", url).out == "web-1: 0 records and 0 events; the fleet holds all to 6\n"


def test_verify_checks_each_machines_chain_there(lab: Lab, server: Server, fleet: str, tmp_path: Path):
    """Whole it is so; a byte changed there, or a record taken out, is told with its machine."""
    url = server.url(fleet)
    other = Lab(tmp_path / "other")
    for one, name in ((lab, "web-1"), (other, "web-2")):
        one.take([call(f"c{n}", n) for n in range(6)])
        assert one.limpet("push", "--as", name, url).status == 0
    whole = lab.limpet("verify", "--json", "--db", url)
    assert (whole.status, *(whole.json[key] for key in ("records", "events", "faults"))) == (0, 12, 12, [])
    server.run(fleet, "UPDATE limpet.record SET kind = 'other' WHERE machine = 0 AND no = 2")
    server.run(fleet, "UPDATE limpet.record SET bytes = set_byte(bytes, 60, 1) WHERE machine = 1 AND no = 6")
    server.run(fleet, "DELETE FROM limpet.record WHERE machine = 1 AND no = 4")
    broken = lab.limpet("verify", "--json", "--db", url)
    faults = sorted(broken.json["faults"])
    assert (broken.status, len(faults)) == (5, 3)
    assert faults[:2] == ["web-1: record 2 was changed", "web-2: record 4 is missing"]
    assert faults[2].startswith("web-2: record 6 ")


def test_status_of_a_fleet_names_its_machines(pushed: tuple[Lab, str]):
    """Each with its records, what it said of itself, and when it pushed last; on the machine, how far the fleet has it."""
    lab, url = pushed
    told = lab.limpet("status", "--json", "--db", url).json
    (machine,) = told["machines"]
    assert (told["ok"], told["state"], machine["machine"], machine["records"]) == (True, "fleet", "web-1", 6)
    assert set(told) - {"machines"} == set(lab.limpet("status", "--json").json)
    assert "Last pushed" in machine["state"]
    here = lab.limpet("status", "--json").json["push"]
    assert here.startswith("fleet: last pushed ")
    assert here.endswith("; 0 records and 0 changes wait")


def test_an_answer_says_when_nothing_was_pushed_since(lab: Lab, server: Server, fleet: str):
    """A window that reaches past the last push is not complete there."""
    url = server.url(fleet)
    lab.take([call("c1", 0)])
    assert lab.limpet("push", url).status == 0
    told_then = f"regexp_replace(said, '\"now_ms\": \\d+', '\"now_ms\": {NOON + 60_000}')"
    server.run(fleet, f"UPDATE limpet.machine SET said = {told_then}")
    told = lab.limpet("ask", "events today", "--json", "--now", str(NOON + 7_200_000), "--db", url).json
    assert ("push", "nothing was pushed since") in [(gap["source"], gap["why"]) for gap in told["coverage"]["gaps"]]


@pytest.mark.parametrize(
    "command",
    [
        ("add", "note", "x"),
        ("rebuild",),
        ("doctor",),
        ("note",),
        ("brief",),
        ("run",),
        ("forget", "everything", "--yes"),
        ("restore", "there.db", "--replace"),
        ("push", "postgresql://me@/x"),
    ],
)
def test_what_is_not_done_on_a_fleet_is_refused(pushed: tuple[Lab, str], command: tuple[str, ...]):
    """A fleet is only read: the machine's own sidecar writes, and its own doctor looks at it."""
    lab, url = pushed
    done = lab.limpet(*command, "--json", "--db", url)
    assert (done.status, done.json["error"]["code"]) == (2, "fleet")


def test_a_machine_can_be_asked_alone(pushed: tuple[Lab, str]):
    """`?machine=` reads one; one that is not there is refused, and the others are named."""
    lab, url = pushed
    one = lab.limpet("ask", "events on 2026-06-01", "--json", "--db", f"{url}&machine=web-1").json
    none = lab.limpet("ask", "events on 2026-06-01", "--json", "--db", f"{url}&machine=nobody")
    assert one["count"] == len(lab.events())
    assert (none.status, none.json["error"]["code"]) == (3, "not_found")
    assert "web-1" in none.json["error"]["hint"]


def test_events_of_several_machines_come_with_their_names(lab: Lab, server: Server, fleet: str, tmp_path: Path):
    """An answer over all of them counts each once, says whose each event is, and its number finds it again."""
    url = server.url(fleet)
    other = Lab(tmp_path / "other")
    for one, name in ((lab, "web-1"), (other, "web-2")):
        one.take([call(f"c{n}", n, params={"command": name}) for n in range(3)])
        push = pushing.Pushing(one.settings, url, name)
        assert push.once().events == 3
    told = lab.limpet("ask", "events on 2026-06-01", "--json", "--db", url).json
    assert (told["count"], sorted(event["machine"] for event in told["events"])) == (6, ["web-1"] * 3 + ["web-2"] * 3)
    lines = lab.limpet("ask", "events on 2026-06-01", "--db", url).out
    assert (lines.count("web-1/main"), lines.count("web-2/main")) == (3, 3)
    for event in told["events"]:
        shown = lab.limpet("show", event["id"], "--json", "--db", url).json
        assert (shown["machine"], event["machine"]) == (event["machine"], event["summary"].split()[-1])


def test_a_password_is_never_shown_nor_taken_from_the_file(lab: Lab, server: Server, fleet: str):
    """An address in config.toml may not hold one, and what is printed of another has none."""
    lab.take([call("c1", 0)])
    refused: list[Done] = [lab.limpet("push", server.url(fleet, secret="wr0ng"))]
    (lab.home / "config.toml").write_text(f'push = "{server.url(fleet)}"\n')
    refused.append(lab.limpet("status"))
    (lab.home / "config.toml").write_text('push = "postgresql://x@/y?host=/z"\n')
    refused.append(lab.limpet("doctor", LIMPET_DB=server.url(fleet)))
    assert [done.status for done in refused] == [2, 2, 2]
    assert not any(secret in done.out + done.err for done in refused for secret in (SECRET, "wr0ng"))


def test_the_sidecar_pushes_by_itself(lab: Lab, server: Server, fleet: str):
    """Where config.toml names a fleet, with the password in a variable; also after the fleet was away."""
    lab.home.mkdir(parents=True)
    (lab.home / "config.toml").write_text(
        f'push = "postgresql://keeper@/{fleet}?host={server.folder}"\npush_password_env = "FLEET_WORD"\nmachine = "web-7"\n'
    )
    with lab.sidecar(FLEET_WORD=SECRET):
        lab.spool([call("c1", 0), call("c2", 1)])
        until(lambda: server.run(fleet, "SELECT count(*) FROM limpet.event") == [(2,)], "the sidecar pushed")
    assert server.run(fleet, "SELECT name, records FROM limpet.machine") == [("web-7", 2)]


def test_the_page_works_on_a_fleet(pushed: tuple[Lab, str]):
    """`limpet open --db` serves it alone, without a sidecar; its answers are those of the command line."""
    lab, url = pushed
    process = lab.start("open", "--no-browser", "--json", "--db", url)
    try:
        assert process.stdout is not None
        visitor = Visitor.of(lab, json.loads(process.stdout.readline()))
        asked = {"q": "events on 2026-06-01", "now": NOW}
        told = lab.limpet("ask", asked["q"], "--now", NOW, "--json", "--db", url).json
        assert visitor.get("/api/ask", **asked).json["events"] == told["events"]
        assert len(told["events"]) == 5
        assert visitor.get("/api/status").json["machines"][0]["machine"] == "web-1"
        paths = ("/?day=2026-06-01", "/ask?q=events+on+2026-06-01", "/session/s-1", "/event/8192", "/health", "/live")
        assert [visitor.get(path).status for path in paths] == [200] * len(paths)
        assert SECRET not in visitor.get("/health").text
        assert visitor.get("/api/session/s-1").json == lab.limpet("session", "s-1", "--json").json
    finally:
        process.terminate()
        ended(process)


def test_the_client_of_postgresql_is_loaded_for_a_fleet_only(lab: Lab):
    """A question to the memory, and the sidecar's parts, do without it; where it is missing a fleet says what to install."""
    lab.take([call("c1", 0)])
    asked = """
import sys
from limpet.cli import main
import limpet.sidecar
main.main(["ask", "events today"])
sys.exit("psycopg" in sys.modules)
"""
    missing = """
import sys
sys.modules["psycopg"] = None
from limpet.cli import main
sys.exit(main.main(["recent", "--json", "--db", "postgresql://me@/x"]))
"""
    assert lab.code(asked).status == 0
    without = lab.code(missing)
    assert (without.status, without.json["error"]["code"]) == (4, "no_psycopg")


def test_the_tables_are_documented_as_they_are():
    """docs/fleet.md shows the beginning of the schema's script, word by word, with every table that is read."""
    root = Path(__file__).parents[2]
    script = (root / "src/limpet/store/migrations/postgres/0001.sql").read_text("utf-8")
    page = (root / "docs/fleet.md").read_text("utf-8").partition("## The tables")[2]
    shown = page.partition("```sql\n")[2].partition("\n```")[0]
    assert script.startswith(shown)
    assert set(re.findall(r"CREATE TABLE limpet\.(\w+) \(", shown)) >= {
        "record",
        "body",
        "event",
        "sighting",
        "stream",
        "machine",
    }
