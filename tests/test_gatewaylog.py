import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentdb import Follower
from limpet.runtimes.openclaw import layout
from limpet.runtimes.openclaw.gatewaylog import LogSource


def line(level, subsystem, message, **more):
    """Return a line as the gateway 2026.9.6 writes it."""
    name = json.dumps({"subsystem": subsystem}, separators=(",", ":")) if subsystem else "openclaw"
    said = {"0": name, "1": message} if subsystem else {"0": message}
    meta = {
        "runtime": "node",
        "hostname": "host",
        "date": "2026-11-30T08:43:51.265Z",
        "logLevelName": level,
        "name": name,
    }
    said |= {"_meta": meta, "time": "2026-11-30T08:43:51.265+00:00", "hostname": "host", "message": message, **more}
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


NOISE = line("INFO", "agent/embedded", "tool-search: cataloged 53 tools behind compact prompt surface")


@pytest.fixture
def state(tmp_path):
    """Give a state folder whose configuration names no log."""
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / "logs").mkdir()
    return tmp_path / ".openclaw"


def follower(state):
    """Return a recorder of the log that has read nothing yet."""
    return Follower(LogSource(state, [state.parent / "logs"]))


def log_of(state, name="openclaw-2026-11-30.log"):
    """Return the path of the log of a day."""
    return state.parent / "logs" / name


def told(records):
    """Return what the records tell: part of the gateway and message."""
    return [(r.body["event"]["subsystem"], r.body["event"]["message"]) for r in records]


def test_failures_of_channels_plugins_and_start_up_are_told(state):
    """And nothing of what else stands in the log."""
    kept = [
        ("ERROR", "channels/telegram", "telegram deleteWebhook failed: Network request failed!"),
        ("ERROR", "plugins", "[plugins] badplug failed during register: Error: register broke"),
        ("WARN", "telegram/network", "fetch fallback: primary connection path failed"),
        ("WARN", "main-session-restart-recovery", "marked 1 startup-orphaned main session(s) for restart recovery"),
        ("ERROR", "", "Gateway failed to start: another OpenClaw process owns gateway-lifecycle"),
        ("FATAL", "state/database-verify", "database integrity verification failed"),
    ]
    passed_over = [
        ("INFO", "gateway/ws", "⇄ res ✓ agent 308ms"),
        ("WARN", "session-sqlite", "slow SQLite session write failed to be fast"),
        ("WARN", "telegram/network", "all is well"),
        ("ERROR", "", "Possible causes:"),
        ("ERROR", "", "[tools] read failed: File not found: /nonexistent/file.txt"),
        ("ERROR", "agents/tools", "the agent's own failures are told by hooks and transcripts"),
        ("INFO", "", "Gateway failed to start, says an answer that a command printed"),
    ]
    log_of(state).write_bytes(NOISE + b"".join(line(*said) for said in [*kept, *passed_over]))
    assert [said[1:] for said in kept] == told(follower(state).follow())


def test_starts_and_stops_of_the_gateway_are_told(state):
    """They are not errors, but they explain what follows."""
    turns = [
        ("gateway", "starting..."),
        ("gateway", "gateway ready"),
        ("gateway", "received SIGTERM; shutting down"),
        ("gateway/shutdown", "shutdown completed cleanly in 178ms"),
    ]
    log_of(state).write_bytes(b"".join(line("INFO", *turn) for turn in turns) + line("INFO", "gateway", "log file: x"))
    assert turns == told(follower(state).follow())


def test_a_record_says_what_the_line_said(state):
    """Level, part, message, time, whose it was and what was logged beside it; not where in the code."""
    more = {"agent_id": "main", "session_id": "agent:main:main", "channel": "telegram", "2": {"code": "ENOTFOUND"}}
    log_of(state).write_bytes(NOISE + line("ERROR", "channels/telegram", "send failed", **more))
    (record,) = follower(state).follow()
    assert ("openclaw.log", "gateway_log", len(NOISE)) == (record.source, record.kind, record.seq)
    assert record.body == {
        "hook": "gateway_log",
        "ts": "2026-11-30T08:43:51.265+00:00",
        "ctx": {"agentId": "main", "sessionKey": "agent:main:main", "channel": "telegram"},
        "event": {
            "level": "error",
            "subsystem": "channels/telegram",
            "message": "send failed",
            "time": "2026-11-30T08:43:51.265+00:00",
            "agent_id": "main",
            "session_id": "agent:main:main",
            "channel": "telegram",
            "data": [{"code": "ENOTFOUND"}],
        },
    }


def test_rotation_tells_nothing_twice_and_loses_nothing(state):
    """By size, under another name, and by date, in another file."""
    path = log_of(state)
    path.write_bytes(NOISE + line("ERROR", "plugins", "one failed"))
    reader = follower(state)
    reader.follow()
    with path.open("ab") as file:
        file.write(line("ERROR", "plugins", "two failed"))
    path.rename(log_of(state, "openclaw-2026-11-30.1.log"))
    path.write_bytes(line("INFO", "gateway", "another first line") + line("ERROR", "plugins", "three failed"))
    log_of(state, "openclaw-2026-12-01.log").write_bytes(line("ERROR", "plugins", "four failed"))
    assert {"two failed", "three failed", "four failed"} == {message for _, message in told(reader.follow())}
    assert reader.follow() == []


def test_only_the_gateway_of_this_profile_is_listened_to(tmp_path):
    """Another profile's log has another name."""
    state = tmp_path / ".openclaw-work"
    state.mkdir()
    for name in (
        "openclaw-2026-11-30.log",
        "openclaw-work-2026-11-30.log",
        "openclaw-work--2-2026-11-30.log",
        "other.log",
    ):
        (tmp_path / name).write_bytes(line("ERROR", "plugins", f"{name} failed"))
    records = Follower(LogSource(state, [tmp_path])).follow()
    assert told(records) == [("plugins", "openclaw-work-2026-11-30.log failed")]


@pytest.mark.parametrize(
    ("named", "written"),
    [("gw.jsonl", ["gw.1.jsonl", "gw.jsonl"]), ("openclaw-YYYY-MM-DD.log", ["openclaw-2026-11-30.log"])],
)
def test_the_configuration_may_name_the_log(state, tmp_path, named, written):
    """`logging.file`, rotated beside itself, or with the day in its name."""
    (state / "openclaw.json").write_text(json.dumps({"logging": {"file": str(tmp_path / named)}}))
    log_of(state).write_bytes(line("ERROR", "plugins", "elsewhere failed"))
    for name in written:
        (tmp_path / name).write_bytes(line("ERROR", "plugins", f"{name} failed"))
    assert {f"{name} failed" for name in written} == {message for _, message in told(follower(state).follow())}


def test_a_broken_line_of_interest_is_kept_and_stops_nothing(state):
    """Counted, with its reason."""
    log_of(state).write_bytes(NOISE + b'{"_meta":{"logLevelName":"ERROR"\n' + line("ERROR", "plugins", "x failed"))
    reader = follower(state)
    assert told(reader.follow()) == [("plugins", "x failed")]
    assert [f"log at byte {len(NOISE)}"] == [reject.where for reject in reader.rejects]


def test_no_log_is_no_fault(state):
    """Before the first start, or where it is written elsewhere."""
    (state.parent / "logs").rmdir()
    assert follower(state).follow() == []


def test_the_places_of_files_that_are_gone_are_forgotten(state):
    """The gateway deletes its logs after a day."""
    log_of(state).write_bytes(NOISE)
    reader = follower(state)
    reader.follow()
    log_of(state).unlink()
    reader.follow()
    assert reader.cursor == {}


def test_files_are_listed_by_the_names_that_the_gateway_gives(tmp_path):
    """The last one changed comes last."""
    names = ["openclaw-2026-11-29.log", "openclaw-2026-11-30.1.log", "openclaw-2026-11-30.log"]
    for age, name in enumerate(names):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (age, age))
    (tmp_path / "openclaw-dev-2026-11-30.log").touch()
    assert names == [path.name for path in layout.log_files(tmp_path / ".openclaw", [tmp_path])]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 2000), max_size=6))
def test_any_cut_of_the_bytes_gives_the_same_records(tmp_path_factory, cuts):
    """Whole lines only, each once."""
    folder = tmp_path_factory.mktemp("any")
    content = NOISE + line("ERROR", "plugins", "é failed") * 2 + NOISE + line("INFO", "gateway", "gateway ready")
    reader = Follower(LogSource(folder / ".openclaw", [folder]))
    for end in [*sorted(min(cut, len(content)) for cut in cuts), len(content)]:
        (folder / "openclaw-2026-11-30.log").write_bytes(content[:end])
        reader.follow()
    at_once = Follower(LogSource(folder / ".openclaw", [folder])).follow()
    assert {record.id for record in at_once} == reader.records.keys()
    assert len(at_once) == 3
