"""The briefs that wait for the plugin, kept by a real sidecar, and the command that shows one."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from lab import NOON, Lab, call, hook, numbered, until
from limpet.brief import files
from limpet.brief.composing import Brief
from limpet.brief.gathering import MOST_AUDIENCES, Briefs

if TYPE_CHECKING:
    from pathlib import Path


def now(at: int = 0) -> int:
    """Return how many milliseconds after NOON it is now, plus `at`."""
    return time.time_ns() // 1_000_000 - NOON + at


def waiting(lab: Lab, agent: str = "main") -> dict[str, Any]:
    """Return what waits for an agent, nothing where nothing does."""
    path = lab.home / "brief" / files.name_of(agent)
    return json.loads(path.read_bytes()) if path.exists() else {}


def owners(lab: Lab, agent: str = "main") -> str:
    """Return the owner's part of what waits, both parts of it."""
    found = waiting(lab, agent).get("of", {}).get("owner", {})
    return f"{found.get('own', '')}{found.get('quoted', '')}"


def test_the_sidecar_keeps_the_brief_fresh(tmp_path: Path) -> None:
    """What happens is in the file soon after; the file is its owner's alone and is replaced as a whole."""
    lab = Lab(tmp_path)
    lab.spool(numbered([call("a", now(-5000), params={"command": "make one"}, error="no")]))
    with lab.sidecar():
        until(lambda: "make one" in owners(lab), "the first failure is in the brief")
        lab.spool(numbered([call("b", now(-1000), params={"command": "rake two"}, error="no")], after=1), segment=2)
        until(lambda: "rake two" in owners(lab), "the second failure is in the brief")
        own = waiting(lab)["of"]["owner"]["own"]
    assert "Open ends of the last 7 days: 2" in own
    assert own.split("\n")[1].startswith("It is recording")
    folder = lab.home / "brief"
    assert ({0o600}, 0o700) == (
        {p.stat().st_mode & 0o777 for p in folder.glob("*.json")},
        folder.stat().st_mode & 0o777,
    )


def test_each_agent_has_a_file_that_stays_in_its_folder(tmp_path: Path) -> None:
    """Also one whose id is a path, a name with capitals, or longer than a name may be; and none for an agent that is gone."""
    agents = ["main", "helper-2", "../../evil", "Main", "x" * 300, "a/b", "\u0000", "~", "windows"]
    lab = Lab(tmp_path)
    told = [call(f"c-{n}", now(-9000), ctx={"agentId": agent, "sessionKey": ""}) for n, agent in enumerate(agents)]
    (lab.home / "brief").mkdir(parents=True, mode=0o700)
    (lab.home / "brief" / "gone.json").write_text("{}")
    lab.spool(told)
    with lab.sidecar():
        until(lambda: all(waiting(lab, agent) for agent in agents), "every agent has a brief")
        until(lambda: not (lab.home / "brief" / "gone.json").exists(), "the brief of an agent that is gone is deleted")
    assert agents == [waiting(lab, agent)["agent"] for agent in agents]
    found = {path.name for path in (lab.home / "brief").glob("*.json")}
    assert found == {files.name_of(agent) for agent in agents}
    assert not (tmp_path / "evil.json").exists()


def test_what_is_forgotten_goes_from_every_brief(tmp_path: Path) -> None:
    """Also from what was handed over; the briefs are made anew of what is left, of each agent."""
    lab = Lab(tmp_path)
    here = {"agentId": "helper", "sessionKey": "agent:helper:main", "sessionId": "s-2", "runId": "r-2"}
    zebra = call("z", now(-9000), params={"command": "make zebra"}, error="no", ctx=here)
    other = call("b", now(-9000), params={"command": "make other"}, error="no", ctx={**here, "runId": "r-3"})
    lab.spool(numbered([zebra, other]))
    with lab.sidecar():
        until(lambda: "zebra" in owners(lab, "helper"), "the brief tells of it")
        window = lab.home / "brief" / "windows" / "w.json"
        window.write_text(json.dumps({"own": "x", "quoted": "zebra"}))
        done = lab.limpet("forget", "--yes", "zebra")
        assert done.status == 0, done.err
        assert not window.exists()
        until(lambda: "make other" in owners(lab, "helper"), "the brief is made anew")
        assert "zebra" not in owners(lab, "helper")
    assert "1 tool call (1 failed)" in waiting(lab, "helper")["of"]["owner"]["own"]


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """Nothing is written where it leads; recording goes on."""
    lab = Lab(tmp_path)
    (tmp_path / "far").mkdir()
    lab.home.mkdir(parents=True)
    (lab.home / "brief").symlink_to(tmp_path / "far")
    lab.spool([call("a", now(-5000))])
    with lab.sidecar():
        until(lambda: lab.db.exists() and lab.events("tool_call"), "the call is recorded")
        time.sleep(2)
    assert not list((tmp_path / "far").glob("*.json"))


def test_what_is_still_true_is_confirmed_and_what_is_old_goes(tmp_path: Path) -> None:
    """The time of a file says when it was last known to be true; windows of a month ago are deleted."""
    made = Briefs("main", NOON, {"owner": brief("owner", "own", "quoted")}, brief("", "other"))
    files.write(tmp_path, made)
    path = tmp_path / "brief" / "main.json"
    os.utime(path, (0, 0))
    assert (files.confirm(tmp_path, ["main"]), files.confirm(tmp_path, ["main", "none"])) == (True, False)
    assert path.stat().st_mtime > NOON / 1000
    old, new = (tmp_path / "brief" / "windows" / f"{name}.json" for name in ("old", "new"))
    for one, age in ((old, 31), (new, 29)):
        one.write_text("{}")
        os.utime(one, (0, NOON / 1000 - age * 86_400))
    files.tidy(tmp_path, ["main"], NOON)
    assert (old.exists(), new.exists(), path.exists()) == (False, True, True)


def brief(audience: str, own: str, quoted: str = "") -> Brief:
    """Return a brief of somebody."""
    return Brief("main", audience, NOON, own, quoted, (4096,) if quoted else ())


def test_a_file_is_never_larger_than_the_plugin_reads() -> None:
    """Of many audiences with long names those are left out of whom something was heard longest ago."""
    many = {f"telegram:direct:{n:04d}" + "x" * 4000: brief("", "x" * 1500, "y" * 1500) for n in range(MOST_AUDIENCES)}
    content = files.content_of(Briefs("main", NOON, many, brief("", "other")))
    kept = list(json.loads(content)["of"])
    assert len(content) <= files.LONGEST
    assert kept == list(many)[-len(kept) :]
    assert json.loads(content)["other"] == {"own": "other", "quoted": "", "told": []}


def test_the_command_shows_both_parts_and_where_they_go(tmp_path: Path) -> None:
    """For people with a heading each, for programs as JSON; of any session, at any time, in any zone."""
    lab = Lab(tmp_path)
    lab.take([call("a", error="no")])
    at = ("--now", "2026-06-01T13:00:00Z", "--tz", "Europe/Berlin")
    shown = lab.limpet("brief", *at)
    found = lab.limpet("brief", "--json", *at).json
    assert shown.out.split("\n")[0] == "== in the system's part, on every turn of the window =="
    assert f"{found['own']}\n\n== in the first message of the window ==\n{found['quoted']}\n" in shown.out
    assert (found["agent"], found["audience"], found["at"]) == ("main", "owner", "2026-06-01T15:00:00.000+02:00")
    assert [str(event.id) for event in lab.events("tool_call")] == found["told"]
    assert found["tokens"] <= 600
    stranger = lab.limpet("brief", "--json", "--session", "agent:main:telegram:direct:1", *at).json
    assert "nothing is known" in stranger["own"]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--tokens", "5"), 2, "A brief has from 200 to 8,000 tokens."),
        (("--tokens", "-1"), 2, "A brief has from 200 to 8,000 tokens."),
        (("--tokens", "many"), 2, "invalid int value"),
        (("--agent", "nobody"), 3, "There is no agent 'nobody'."),
        (("--now", "someday"), 2, "is no time"),
        (("--tz", "Mars/Olympus"), 2, "There is no time zone 'Mars/Olympus'."),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(
    tmp_path: Path, arguments: tuple[str, ...], status: int, words: str
) -> None:
    """With the exit status that says what was wrong."""
    lab = Lab(tmp_path)
    lab.take([call("a")])
    done = lab.limpet("brief", *arguments)
    assert (status, "") == (done.status, done.out)
    assert words in done.err


def test_what_was_handed_over_is_limpets_own_and_found_when_asked_for(tmp_path: Path) -> None:
    """An event with size, hash and what was quoted; no search finds it, no answer shows it by itself."""
    event = {"own": "Limpet's memory: zebra", "bytes": 22, "sha256": "ab" * 32, "told": ["4096", "8192"], "at": NOON}
    lab = Lab(tmp_path)
    (one,) = lab.take([hook("limpet_brief", event)])
    assert (one.type, one.label, one.session) == ("brief", "own", "s-1")
    assert one.summary == "brief handed over (22 bytes, 2 events quoted, sha256 abababababababab)"
    assert lab.found("zebra") == []
    asked = (
        lab.limpet("ask", "--json", question).json["count"] for question in ("on:2026-06-01", "type:brief noise:yes")
    )
    assert list(asked) == [0, 1]


def test_a_message_with_a_brief_in_front_is_recorded_without_it(tmp_path: Path) -> None:
    """Some harness may write down what the model received: the quotations are in the record, and no news."""
    lab = Lab(tmp_path)
    lab.take([call("a", params={"command": "make zebra"}, error="no")])
    given = lab.limpet("brief", "--json", "--now", "2026-06-01T13:00:00Z").json["quoted"]
    message = {"role": "user", "content": f"{given}\n\nhello there", "idempotencyKey": "r-2:user"}
    lab.take([hook("before_message_write", {"message": message}, 1000, runId="r-2")], segment=2)
    assert [one.summary for one in lab.events("message")] == ["hello there"]
    assert [one.type for one in lab.found("zebra")] == ["tool_call"]
    assert "zebra" in json.dumps(lab.records()[-1].body)
