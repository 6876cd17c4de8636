"""Whatever comes in, each reader of it ends, says what is wrong in one sentence, and loses nothing of what stands beside it.

A second for each reader; with `LIMPET_FUZZ_SECONDS=600 pytest -m soak tests/test_fuzz.py` ten minutes for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import importlib.util
import io
import json
import logging
import os
import random
import re
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_from_bytes

import apsw
import pytest
import zstandard

from agentdb import AgentDatabase, Follower, message, messages
from field.test_takeover import BERLIN, script_database, script_rows
from fuzzing import ODD, Fuzzer
from lab import Lab, call, entry, hook, raw, text_result
from lab import message as said_in_transcript
from limpet import alarm, door, json5, jsonline, settings
from limpet.errors import LimpetError
from limpet.interpreter import making
from limpet.memory import Memory
from limpet.model import Batch
from limpet.note import asking, block
from limpet.note.diary import Diary
from limpet.note.seals import seals_of
from limpet.note.spending import Purse
from limpet.quarantine import Quarantine
from limpet.question import parse
from limpet.redact import Redactor
from limpet.runtimes import importing
from limpet.runtimes.openclaw import layout, route
from limpet.runtimes.openclaw.archives import ArchiveSource
from limpet.runtimes.openclaw.audit import AuditSource
from limpet.runtimes.openclaw.configuration import Configuration
from limpet.runtimes.openclaw.gatewaylog import LogSource
from limpet.runtimes.openclaw.names import SessionNames
from limpet.runtimes.openclaw.transcripts import TranscriptSource
from limpet.runtimes.openclaw.workspaces import Workspaces
from limpet.sidecar import Sidecar
from limpet.spool.line import record_of
from limpet.spool.reader import SpoolSource
from limpet.store.known import Known
from limpet.tools import Scope, run
from limpet.web.app import application
from limpet.web.keys import Keys
from test_audit import Ledger
from test_bundle import SCRIPT
from test_gatewaylog import line as logged
from test_mcp import HELLO, READY, asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from limpet.model import Record

SHORT_S = 0.7
SOAK_S = float(os.environ.get("LIMPET_FUZZ_SECONDS", "30"))
NOW = 1_795_000_000_000
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"

Reading = tuple["Sequence[bytes]", "Callable[[bytes], object]"]
LINES = [
    call("c-1", begins=True),
    call("c-2", 5, result=text_result("fine", "x" * 300)),
    call("c-3", 9, error="broken", exitCode=2),
    hook("message_received", {"content": "hello", "messageId": "m-1", "role": "user"}, 12),
    hook("before_message_write", {"message": {"role": "assistant", "content": [{"type": "toolCall", "id": "c-4", "name": "exec", "arguments": {"command": "ls"}}], "timestamp": 3}}, 14),
    hook("agent_end", {"success": True, "durationMs": 100, "messages": []}, 20),
    hook("session_start", {"sessionId": "s-1"}, 21),
    hook("subagent_spawned", {"childSessionKey": "agent:main:sub", "runId": "r-2", "agentId": "main"}, 22),
    hook("cron_changed", {"action": "finished", "jobId": "j", "status": "ok", "job": {"name": "nightly"}}, 23),
    hook("limpet_add", {"type": "note", "summary": "a note", "details": {"n": 1}, "tags": ["a"]}, 24),
    hook("limpet_beat", {"openclaw": "2026.9.6"}, 25),
    hook("limpet_dropped", {"count": 3, "since": 1, "until": 2}, 26),
    hook("transcript_line", {"type": "message", "id": "m1", "message": {"role": "user", "content": "x"}}, 27),
    hook("gateway_log", {"level": "error", "subsystem": "channels/telegram", "message": "failed"}, 28),
    {"v": 1, "id": "01970000-0000-7000-9000-000000000001", "producer": "01970000-0000-7000-8000-00000000000a", "seq": 1, **call("c-9")},
]  # fmt: skip
ENTRIES = [
    entry("session", 0, cwd="/home/sam"),
    said_in_transcript(1, "user", "hello"),
    said_in_transcript(2, "assistant", [{"type": "toolCall", "id": "c-1", "name": "exec", "arguments": {"command": "ls"}}], 5),
    said_in_transcript(3, "toolResult", [{"type": "text", "text": "done"}], 6, toolCallId="c-1", toolName="exec", isError=False),
    entry("compaction", 4, 9, summary="short", tokensBefore=100),
    entry("reset", 5, 12),
    entry("custom", 6, 13, customType="x", data={"a": 1}),
    entry("model_change", 7, 14, modelId="m", provider="p"),
    {"type": "assistant", "uuid": "u1", "sessionId": "s", "timestamp": "2026-06-01T10:00:00Z", "message": {"role": "assistant", "content": "hi"}},
    {"type": "response_item", "timestamp": "2026-06-01T10:00:00Z", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}},
]  # fmt: skip


def good_line(name: str) -> dict[str, Any]:
    """Return a line that must be read, whatever stands beside it."""
    return {"id": f"good-{name}", **hook("limpet_add", {"type": "note", "summary": f"good {name}"})}


@contextmanager
def spool_line(_: Path) -> Iterator[Reading]:
    """Read one line of the spool, and what it means."""

    def read(content: bytes) -> None:
        record = record_of(content, "stream", 1, NOW)
        assert jsonline.parse(jsonline.dump(record.body)) == record.body
        making.facts_of(record)

    yield [raw(line) for line in LINES], read


@contextmanager
def spool_segment(folder: Path) -> Iterator[Reading]:
    """Read a segment of the spool by the whole recorder, into the database and the index."""
    lab, count = Lab(folder), iter(range(1 << 40))
    with lab.recording() as recording:

        def read(content: bytes) -> None:
            names = [f"{next(count)}-{n}" for n in range(2)]
            lab.spool([good_line(names[0]), content + b"\n", good_line(names[1])], f"p{next(count)}")
            while recording.round(everything=False):
                pass
            ids = [record_of(raw(good_line(name)), "", 0, 0).id for name in names]
            assert set(ids) == set(recording.store.records.known(ids)), "a good neighbour was lost"

        yield [b"".join(map(raw, LINES)), *map(raw, LINES)], read
    assert lab.verdict().faults == ()


@contextmanager
def spool_folder(folder: Path) -> Iterator[Reading]:
    """Read what a producer says of itself, and the names in its folder."""
    spool = folder / "spool"
    (spool / "p").mkdir(parents=True)
    (spool / "q").mkdir()
    source = SpoolSource(spool)

    def read(content: bytes) -> None:
        (spool / "p" / "producer.json").write_bytes(content)
        (spool / "p" / "1.jsonl").write_bytes(raw(LINES[0]))
        (spool / "q" / "1.jsonl").write_bytes(raw(LINES[1]))
        source.living(NOW)
        assert len(source.read({}, NOW).records) == 2

    about = {"v": 1, "producer": "plugin", "pid": os.getpid(), "start": "1", "boot": "b", "ns": "1"}
    yield [json.dumps(about).encode(), b"{}"], read


@contextmanager
def imported_lines(folder: Path) -> Iterator[Reading]:
    """Read a file of lines, hooks' or a transcript's, as `limpet import` takes it."""

    def read(content: bytes) -> None:
        path = folder / "s-77.jsonl"
        for first, last in ((ENTRIES[0], message(99, "good neighbour")), (LINES[6], good_line("neighbour"))):
            path.write_bytes(raw(dict(first)) + content + b"\n" + raw(dict(last)))
            os.utime(path, (1, 1))
            told = [record for batch in importing.read(path, now_ms=NOW) for record in batch.records]
            assert "good neighbour" in repr(told[-1].body), "a good neighbour was lost"
            all_facts(told)
        path.write_bytes(content)
        list(importing.read(path, now_ms=NOW))

    yield [b"".join(map(raw, ENTRIES)), *map(raw, ENTRIES), b"".join(map(raw, LINES))], read


def all_facts(records: Sequence[Record]) -> None:
    """Interpret what was read: it must mean something, or nothing, and never fail."""
    for record in records:
        jsonline.dump(record.body)
        making.facts_of(record)


@contextmanager
def packed_lines(folder: Path) -> Iterator[Reading]:
    """Read the same, packed with zstd or gzip, cut off or damaged."""
    lines = b"".join(map(raw, ENTRIES))

    def read(content: bytes) -> None:
        path = folder / "s-77.jsonl.zst"
        path.write_bytes(content)
        list(importing.read(path, now_ms=NOW))

    yield [zstandard.compress(lines), gzip.compress(lines, mtime=0), zstandard.compress(lines) * 2, lines], read


@contextmanager
def archives(folder: Path) -> Iterator[Reading]:
    """Read an agent's folder of older transcripts, as it is followed."""
    sessions = folder / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)

    def read(content: bytes) -> None:
        (sessions / "s-1.jsonl").write_bytes(
            raw(ENTRIES[0]) + content + b"\n" + raw(dict(message(99, "good neighbour")))
        )
        (sessions / "s-2.jsonl.reset.2026-06-01T10-00-00.000Z").write_bytes(content)
        (sessions / "s-3.jsonl").write_bytes(raw(dict(message(98, "another file"))))
        (sessions / "sessions.json").write_bytes(content)
        SessionNames(sessions, None).known(NOW)
        told = Follower(ArchiveSource("main", sessions)).follow()
        all_facts(told)
        bodies = repr([record.body for record in told])
        assert "good neighbour" in bodies
        assert "another file" in bodies

    names = {"agent:main:main": {"sessionId": "s-1", "channel": "telegram", "updatedAt": 1}}
    yield [b"".join(map(raw, ENTRIES)), json.dumps(names).encode()], read


def odd_cell(chance: random.Random) -> Any:
    """Return something that SQLite may hold in any column."""
    value = chance.choice(ODD)
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return float(value)
    if chance.random() < 0.2:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
    return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if isinstance(value, str) else value


def spoil_cells(path: Path, tables: Sequence[str], content: bytes, keep: str) -> None:
    """Put odd values into some cells of these tables, where a row is not the one to keep: by these bytes."""
    chance = random.Random(content)
    with contextlib.closing(apsw.Connection(str(path))) as db:
        db.pragma("ignore_check_constraints", 1)
        for _ in range(chance.choice((1, 2, 5))):
            table = chance.choice(tables)
            columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
            column = chance.choice(columns)
            where = f"rowid IN (SELECT rowid FROM {table} WHERE {keep} ORDER BY random() LIMIT 2)"
            with contextlib.suppress(apsw.ConstraintError, apsw.MismatchError):
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (odd_cell(chance),))


def plain_schema(path: Path) -> None:
    """Take STRICT and NOT NULL from a database's tables: a damaged or older one may hold anything."""
    with contextlib.closing(apsw.Connection(str(path))) as db:
        db.pragma("journal_mode", "delete")
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        db.pragma("writable_schema", 1)
        tables = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL").fetchall()
        for name, sql in tables:
            plain = re.sub(r"(?<!IS) NOT NULL", "", sql).removesuffix(" STRICT")
            db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (plain, name))


def agents_database(path: Path) -> bytes:
    """Return an agent's database with two sessions, without a log."""
    owner = AgentDatabase(path)
    for session, key in (("s-bad", "agent:main:main"), ("s-good", "agent:main:other")):
        owner.session(session, key, status="failed", channel="telegram")
        owner.append(session, *[dict(one) for one in ENTRIES], *messages(4, 10))
        owner.append(session, *messages(3, 20), packed=True)
    owner.stop()
    plain_schema(path)
    return path.read_bytes()


@contextmanager
def agent_cells(folder: Path) -> Iterator[Reading]:
    """Read an agent's database in which any value may be anything."""
    path = layout.transcript_database(folder, "main")
    whole = agents_database(path)
    tables = ("transcript_events", "session_windows", "session_nodes", "transcript_rewrite_watermarks")

    def read(content: bytes) -> None:
        path.write_bytes(whole)
        for table in tables:
            keep = "session_key <> 'agent:main:other'" if table == "session_nodes" else "session_id <> 's-good'"
            spoil_cells(path, (table,), content, keep)
        route.last(folder, NOW)
        follower = Follower(TranscriptSource("main", path))
        with contextlib.suppress(LimpetError):
            told = follower.follow()
            all_facts(told)
            good = [one for one in told if one.body.get("ctx", {}).get("sessionId") == "s-good"]
            assert len(good) >= len(ENTRIES) + 7, "a good neighbour was lost"

    yield [b"%d" % n for n in range(20)], read


@contextmanager
def agent_bytes(folder: Path) -> Iterator[Reading]:
    """Read an agent's database whose bytes are damaged."""
    path = layout.transcript_database(folder, "main")
    whole = agents_database(path)

    def read(content: bytes) -> None:
        path.write_bytes(content)
        source = TranscriptSource("main", path)
        with contextlib.suppress(LimpetError):
            all_facts(Follower(source).follow())
        with contextlib.suppress(LimpetError):
            list(importing.read(path, now_ms=NOW))
        route.last(folder, NOW)

    yield [whole], read


@contextmanager
def audit_cells(folder: Path) -> Iterator[Reading]:
    """Read the gateway's audit ledger in which any value may be anything."""
    path = folder / "openclaw.sqlite"
    ledger = Ledger(path)
    ledger.add(8)
    ledger.db.close()
    plain_schema(path)
    whole = path.read_bytes()
    lab = Lab(folder / "lab")
    with lab.recording() as recording:

        def read(content: bytes) -> None:
            path.write_bytes(whole)
            spoil_cells(path, ("audit_events",), content, "sequence < 8")
            with contextlib.suppress(LimpetError):
                told = Follower(AuditSource(path)).follow()
                assert "e7" in {one.body["event"].get("event_id") for one in told}, "a good neighbour was lost"
                recording.recorder.commit("audit", Batch(tuple(told)), NOW)
                recording.store.state.counted(0, NOW)

        yield [b"%d" % n for n in range(20)], read


@contextmanager
def gateway_log(folder: Path) -> Iterator[Reading]:
    """Read the gateway's log."""
    (folder / "state").mkdir()
    logs = folder / "logs"
    logs.mkdir()
    good = logged("ERROR", "plugins", "good neighbour failed")

    def read(content: bytes) -> None:
        (logs / "openclaw-2026-11-30.log").write_bytes(good + content + b"\n" + good)
        told = Follower(LogSource(folder / "state", [logs])).follow()
        all_facts(told)
        assert sum(one.body["event"]["message"] == "good neighbour failed" for one in told) >= 2

    seeds = [
        logged(
            "ERROR", "channels/telegram", "telegram deleteWebhook failed: Network request failed!", channel="telegram"
        ),
        logged("WARN", "main-session-restart-recovery", "marked 1 startup-orphaned main session(s)"),
        logged("INFO", "gateway", "ready"),
        logged("FATAL", "", "Uncaught exception"),
    ]
    yield seeds, read


@contextmanager
def script_cells(folder: Path) -> Iterator[Reading]:
    """Read a database of the well-known script, imported and taken over, in which any value may be anything."""
    made = script_database(folder / "script.db", script_rows(20))
    whole = made.read_bytes()
    count = iter(range(1 << 40))

    def read(content: bytes) -> None:
        lab = Lab(folder / f"lab{next(count)}")
        lab.db.parent.mkdir(parents=True)
        for path in (lab.db, made):
            path.write_bytes(whole)
            spoil_cells(path, ("events",), content, "rowid < 20")
        all_facts([one for batch in importing.read(made, BERLIN, NOW) for one in batch.records])
        lab.drain()
        assert len(lab.records()) == 20

    yield [b"%d" % n for n in range(20)], read


@contextmanager
def script_bytes(folder: Path) -> Iterator[Reading]:
    """Read a database of the well-known script whose bytes are damaged, in the place of ours."""
    whole = script_database(folder / "script.db", script_rows(20)).read_bytes()
    count = iter(range(1 << 40))

    def read(content: bytes) -> None:
        lab = Lab(folder / f"lab{next(count)}")
        lab.db.parent.mkdir(parents=True)
        lab.db.write_bytes(content)
        with contextlib.suppress(LimpetError, apsw.Error):  # which the sidecar explains: the file is damaged
            lab.drain(100)
        copies = [path.read_bytes() for path in lab.db.parent.iterdir()]
        assert len(copies) == 1 or opens(lab.db.parent), "the script's own rows are nowhere"

    yield [whole], read


def opens(folder: Path) -> bool:
    """Whether one of the copies in a folder is the script's database, as far as it can be opened."""
    found = [path for path in folder.glob("*.before-limpet-*") if not path.name.endswith((".half", "-wal", "-shm"))]
    return all(path.read_bytes().startswith(b"SQLite format 3") for path in found)


@contextmanager
def config_toml(folder: Path) -> Iterator[Reading]:
    """Read Limpet's own settings."""
    home = folder / "state" / "limpet"
    home.mkdir(parents=True)
    environment = {"HOME": str(folder), "OPENCLAW_STATE_DIR": str(folder / "state")}

    def read(content: bytes) -> None:
        (home / "config.toml").write_bytes(content)
        chosen = settings.load(environment=environment)
        assert chosen.db.is_absolute()

    yield (
        [
            b'zone = "Europe/Berlin"\nhistory = false\nnote_at = "03:00"\nkeep_days = 200\nbackups = "~/copies"\nbackups_kept = 3\n',
            b'[workspaces]\nmain = "~/notes"\n[secrets]\n"acme badge" = "ACME-[0-9]{6}"\n',
            b'db = "/tmp/x.db"\npush = "postgresql://u@h/d"\npush_password_env = "X"\nmachine = "m"\nalarm_after_s = 300\non_alarm = "ntfy publish x"\n',
            b'note_model = "http://127.0.0.1:11434/v1"\nnote_model_name = "m"\nnote_token_budget = 20000\nweb_port = 8080\nkeep_mb = 5\nkeep_less = true\n',
        ],
        read,
    )


CONFIGURATION = b"""// as people write it
{
  agents: { defaults: { workspace: '~/w', userTimezone: "Europe/Berlin" }, list: [ { id: 'main', default: true }, ], },
  plugins: { enabled: true, allow: ["limpet", "other",], entries: { limpet: { enabled: true, config: {} }, }, load: { paths: ["/x"] } },
  logging: { file: "/tmp/openclaw.log" }, /* more */
  channels: { telegram: { botToken: "x\\u0041", n: +1e3, h: 0xFF, i: -Infinity } },
}
"""


@contextmanager
def openclaw_json(folder: Path) -> Iterator[Reading]:
    """Read openClaw's configuration: read, and changed as `limpet setup` and `limpet remove` do."""
    path = folder / "openclaw.json"
    environment = {"HOME": str(folder), "OPENCLAW_STATE_DIR": str(folder)}
    key = ("plugins", "entries", "limpet", "enabled")

    def read(content: bytes) -> None:
        path.write_bytes(content)
        chosen = settings.load(environment=environment)
        spaces = Workspaces(chosen)
        for agent in spaces.agents():
            assert spaces.of(agent).path.is_absolute()
        layout.configuration(folder)
        layout.log_files(folder, [folder])
        now = Configuration(path)
        now.put(key, True)
        now.add(("plugins", "allow"), "limpet")
        assert now.effective(key) is True
        assert "limpet" in now.items(("plugins", "allow"))
        now.take(("plugins", "allow"), "limpet")
        now.take(key)
        assert now.effective(key) is None
        text = now.texts[path]
        assert text is not None
        json5.parse(text)

    yield (
        [
            CONFIGURATION,
            b"{}",
            b'{"plugins": {"$include": "./plugins.json5"}}',
            b'{"agents": {"entries": {"a": {"workspace": "x"}}}}',
        ],
        read,
    )


@contextmanager
def socket_requests(folder: Path) -> Iterator[Reading]:
    """Read lines at the sidecar's socket, and what a sidecar answers to them."""
    lab = Lab(folder)
    lab.take([call("c-1")])
    sidecar = Sidecar(lab.settings, lambda _: None)
    entrance = door.Door(lab.settings.socket, sidecar._answer)
    entrance.open()
    failed: list[BaseException] = []
    hook_before, threading.excepthook = threading.excepthook, lambda said: failed.append(said.exc_value or Exception())

    def read(content: bytes) -> None:
        if b'"open"' in content:
            return  # starts a process that serves the page
        with socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(20)
            caller.connect(str(door.address_of(lab.settings.socket)))
            caller.sendall(content + b"\n")
            with contextlib.suppress(ConnectionError):
                answer = b"".join(iter(lambda: caller.recv(65536), b""))
                assert isinstance(json.loads(answer), dict), "no answer"
        if failed:
            raise failed.pop()

    tool = {
        "op": "tool",
        "name": "memory_ask",
        "arguments": {"question": "errors today"},
        "agent": "main",
        "whole": True,
    }
    seeds = [
        {"op": "hello"},
        {"op": "drain", "seconds": 0.01},
        tool,
        {**tool, "session_key": "agent:main:main", "whole": False},
    ]
    seeds += [
        {**tool, "name": "memory_recent", "arguments": {"hours": 2, "limit": 3}},
        {**tool, "name": "memory_show", "arguments": {"id": "4096"}},
    ]
    try:
        yield [json.dumps(one).encode() for one in seeds], read
    finally:
        threading.excepthook = hook_before
        entrance.close()


@contextmanager
def socket_answers(folder: Path) -> Iterator[Reading]:
    """Read what some other program answers at the sidecar's socket."""
    path = folder / "limpet.sock"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    said: list[bytes] = []

    def answer() -> None:
        while said is not None:
            try:
                caller, _ = listening.accept()
            except OSError:
                return
            with caller, contextlib.suppress(OSError):
                caller.recv(1 << 16)
                caller.sendall(said[-1])

    threading.Thread(target=answer, daemon=True).start()

    def read(content: bytes) -> None:
        said.append(content)
        found = door.ask(path, {"op": "hello"}, 0.2)
        del said[:-1]
        assert found is None or isinstance(found, dict)

    yield (
        [
            b'{"ok": true, "pid": 1, "db": "/x", "complaint": "", "idle_s": 0.1}\n',
            b'{"error": {"code": "x", "message": "y", "hint": ""}}\n',
        ],
        read,
    )
    listening.close()


@contextmanager
def tool_arguments(folder: Path) -> Iterator[Reading]:
    """Read what a model may say to the tools."""
    lab = Lab(folder)
    lab.take([call(f"c-{n}", n) for n in range(5)])
    memory = Memory(lab.settings, 0)

    def read(content: bytes) -> None:
        said = jsonline.parse(content) if content.strip() else None
        name = said.get("name") if isinstance(said, dict) else "memory_ask"
        arguments = said.get("arguments") if isinstance(said, dict) else said
        told = run(memory, str(name), arguments, Scope("main"))
        assert told.text

    def reading(content: bytes) -> None:
        with contextlib.suppress(ValueError):
            read(content)

    seeds = [
        {
            "name": "memory_ask",
            "arguments": {"question": "failed tool calls since 2026-06-01", "limit": 3, "offset": 1},
        },
        {"name": "memory_recent", "arguments": {"hours": 2, "type": "tool_call", "limit": 3}},
        {"name": "memory_show", "arguments": {"id": "4096", "offset": 0}},
        {"name": "memory_session", "arguments": {"session": "s-1", "limit": 2}},
    ]
    with memory:
        yield [json.dumps(one).encode() for one in seeds], reading


@contextmanager
def mcp_lines(folder: Path) -> Iterator[Reading]:
    """Read lines on the standard input of the MCP server, many to a process; a question after them is still answered."""
    from test_mcp import messages_of, spoken

    lab = Lab(folder)
    lab.take([call("c-1")])
    waiting: list[bytes] = []

    def read(content: bytes) -> None:
        waiting.append(content + b"\n")
        if len(waiting) < 60:
            return
        done = spoken(lab, HELLO, READY, *waiting, asked(77_777, "memory_ask", {"question": "errors today"}))
        del waiting[:]
        assert done.returncode == 0, done.stderr[-2000:]
        assert b"Traceback" not in done.stderr, done.stderr[-2000:]
        assert "result" in messages_of(done)[77_777]

    tools = [
        asked(n, name, {"question": "errors", "hours": 1, "id": "1"})
        for n, name in enumerate(("memory_ask", "memory_recent", "memory_show"), 2)
    ]
    more = [
        {"jsonrpc": "2.0", "id": 9, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 8, "method": "ping"},
        HELLO,
        READY,
    ]
    yield [json.dumps(one).encode() for one in (*tools, *more)], read


@contextmanager
def web_addresses(folder: Path) -> Iterator[Reading]:
    """Read what may stand in an address of the page, from the application's own door."""
    lab = Lab(folder)
    lab.take([*(call(f"c-{n}", n) for n in range(5)), *LINES])
    app = application(lab.settings, Keys("token"), 8080)

    def read(content: bytes) -> None:
        path, _, query = content.partition(b"?")
        if path.startswith(b"/live/stream"):
            return  # never ends by itself
        status = asyncio.run(status_of(app, path, query))
        assert status < 500, f"status {status}"

    seeds = [
        b"/api/ask?q=failed+tool+calls+today&limit=5&offset=1&tz=Europe/Berlin&now=1780315300000",
        b"/api/recent?hours=24&type=tool_call",
    ]
    seeds += [
        b"/api/session/s-1?children=true",
        b"/api/event/4096",
        b"/api/brief?agent=main&tokens=500",
        b"/api/notes?day=2026-06-01",
        b"/api/status",
    ]
    seeds += [
        b"/?day=2026-06-01",
        b"/ask?q=type:tool_call+by:tool",
        b"/session/agent:main:main",
        b"/event/4096",
        b"/notes?day=2026-06-01&agent=main",
    ]
    seeds += [
        b"/health",
        b"/ask.csv?q=everything",
        b"/suggest?q=fai",
        b"/static/limpet.css",
        b"/enter?key=x",
        b"/api/openapi.json",
    ]
    yield seeds, read


async def status_of(app: Any, path: bytes, query: bytes) -> int:
    """Return the status of one GET request."""
    told: list[int] = []
    ended = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await ended.wait()
        return {"type": "http.disconnect"}

    async def send(said: Any) -> None:
        if said["type"] == "http.response.start":
            told.append(said["status"])

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http", "path": path.decode("utf-8", "replace"),
        "raw_path": path, "query_string": quote_from_bytes(query, safe="=&+%:").encode(), "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8080),
        "headers": [(b"host", b"127.0.0.1:8080"), (b"authorization", b"Bearer token")],
    }  # fmt: skip
    await app(scope, receive, send)
    ended.set()
    return told[0]


@contextmanager
def questions(folder: Path) -> Iterator[Reading]:
    """Read a question, in words or in filters, and its answer."""
    lab = Lab(folder)
    lab.take([call(f"c-{n}", n) for n in range(5)])
    memory = Memory(lab.settings, 0)
    memory.attach()

    def read(content: bytes) -> None:
        query = parse(content.decode("utf-8", "surrogateescape"), NOW, "Europe/Berlin", Known(memory.store))
        again = parse(query.understood, NOW, "Europe/Berlin", Known(memory.store))
        assert (again.filters, again.words, again.since_ms, again.until_ms) == (
            query.filters,
            query.words,
            query.since_ms,
            query.until_ms,
        )
        memory.answer(query)

    seeds = [
        b"show me all failed tool calls from yesterday",
        b"type:tool_call status:failed,timed_out on:2026-06-01 -tar by:tool",
        b"how many errors per hour last week",
    ]
    with memory:
        yield (
            [
                *seeds,
                b'last 3 messages from me about "a b" between 9 and 12 on june 1st',
                b"session:s-1 since:2026-06-01T10:00+02:00 until:now noise:yes sort:oldest",
            ],
            read,
        )


@contextmanager
def note_files(folder: Path) -> Iterator[Reading]:
    """Read a daily note in which anything may stand: nothing outside of our block changes, and the same again changes nothing."""
    mine = block.Block("2026-06-01", "main", "# Limpet\n\n- one\n", "9-8-aa")
    path = folder / "2026-06-01.md"

    def read(content: bytes) -> None:
        path.write_bytes(content)
        list(seals_of(path))
        block.stamps_in(content)
        done = block.merged(content, mine)
        assert block.merged(done.content, mine).content == done.content
        assert done.content.startswith(content[: len(content.split(b"<!-- limpet:begin")[0])])
        assert block.stamp_of(done.content, "2026-06-01", "main") == "9-8-aa"

    human = b"# Mine\r\n\r\n- \xc3\xbcber\r\n"
    first = block.merged(human, mine).content
    yield (
        [
            human,
            first,
            first + b"\n- below",
            block.merged(first, block.Block("2026-06-01", "other", "- two\n", "1-1-bb")).content,
        ],
        read,
    )


@contextmanager
def redaction(_: Path) -> Iterator[Reading]:
    """Read what may be a secret, in JSON, in text and in bytes: one that stands by itself beside it never stays."""
    redactor = Redactor(b"k" * 32, [("badge", "ACME-[0-9]{6}")])

    def read(content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        assert SECRET.encode() not in redactor.redact_bytes(content + b"\n" + SECRET.encode() + b"\n" + content)
        assert SECRET not in redactor.redact_text(f"{text}\n{SECRET}\n{text}")[0]
        with contextlib.suppress(ValueError):
            value = jsonline.parse(content)
            clean, _ = redactor.redact({"before": value, "text": SECRET, "after": value})
            assert SECRET not in jsonline.dump(clean).decode()
            assert redactor.redact(clean)[0] == clean

    seeds = [
        b"curl -H 'Authorization: Bearer abcDEF123456ghiJKL789' https://user:pa55word@example.test/?token=x1y2z3a4b5c6d7e8",
        b"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----", b"card 4111 1111 1111 1111 AKIAIOSFODNN7EXAMPLE",
        b'{"env": {"API_KEY": "sk-abc123def456ghi789jkl012", "PATH": "/bin"}, "password": "hunter2hunter2", "cookie": "sid=abc123def456"}',
        b'{"arguments": "{\\"token\\": \\"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop\\"}"}', b"ACME-123456 export DB_PASSWORD='s3cr3t-value-9'",
    ]  # fmt: skip
    yield [*seeds, *map(raw, LINES[:3])], read


@contextmanager
def bundle_files(folder: Path) -> Iterator[Reading]:
    """Read a bundle that was tampered with: the script says so, and ends."""
    lab = Lab(folder)
    lab.take(
        [
            hook("gateway_start", {"port": 1}),
            *(call(f"c-{n}", 10 + n) for n in range(3)),
            call("large", 50, result=text_result("z" * 9000)),
        ]
    )
    assert lab.limpet("export", "--bundle", str(folder / "bundle")).status == 0
    spec = importlib.util.spec_from_file_location("verify_bundle", SCRIPT)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    whole = {
        name: (folder / "bundle" / name).read_bytes() for name in ("manifest.json", "records.jsonl", "texts.jsonl")
    }

    def read(content: bytes) -> None:
        name = (
            "manifest.json"
            if content.lstrip()[:12].count(b"\n")
            else "texts.jsonl"
            if b'"sha256"' in content[:12]
            else "records.jsonl"
        )
        for one, said in whole.items():
            (folder / "bundle" / one).write_bytes(content if one == name else said)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            status = script.main([str(folder / "bundle")])
        assert status in (0, 2, 5)
        if not status and not same(whole[name], content, name):
            (folder.parent / "unseen").write_bytes(content)
            raise AssertionError("a change was not seen")

    yield list(whole.values()), read


def same(before: bytes, after: bytes, name: str) -> bool:
    """Whether two files of a bundle say the same of what is proved; how JSON spells it is not."""
    if name == "manifest.json":
        told = [json.loads(one) for one in (before, after)]
        return all(told[0][key] == told[1][key] for key in ("format", "begins", "head", "records"))
    return [json.loads(line) for line in before.splitlines()] == [
        json.loads(line) for line in after.decode().split("\n") if line
    ]


@contextmanager
def quarantined_files(folder: Path) -> Iterator[Reading]:
    """Read what lies in quarantine, read again to be cleaned."""
    quarantine, redactor = Quarantine(folder), Redactor(b"k" * 32)

    def read(content: bytes) -> None:
        (folder / "0000.json").write_bytes(content)
        (folder / "1111.json").write_bytes(
            json.dumps({"source": "s", "where": "w", "reason": "r", "bytes": 3, "content": SECRET}).encode()
        )
        list(quarantine.named())
        quarantine.clean(redactor)
        assert SECRET.encode() not in (folder / "1111.json").read_bytes()

    kept = {
        "source": "openclaw.hooks",
        "where": "p/1 at byte 3",
        "reason": "not JSON",
        "bytes": 9,
        "content": "x token=abc",
    }
    yield [json.dumps(kept).encode()], read


@contextmanager
def small_files(folder: Path) -> Iterator[Reading]:
    """Read Limpet's own small files, as somebody else may have changed them: what cannot be read counts as not there."""

    def read(content: bytes) -> None:
        for name in ("alarm.json", "notes.json", "note-model.json"):
            (folder / name).write_bytes(content)
        found = alarm.Alarm.read(folder)
        found.look({"hooks": "The hooks have stopped."}, 60.0, 300.0, NOW)
        assert found.told is not None
        found.write(folder)
        Diary.read(folder).write(folder)
        Purse(folder).read()

    trouble = {"sentence": "s", "broken_s": 1.0, "well_s": 0.0, "told_ms": None}
    kept = {"troubles": {"hooks": trouble}, "raised_ms": [1]}
    diary = {
        "seen": 5,
        "mark": "x",
        "through": "2026-06-01",
        "pending": [["2026-06-01", "main"]],
        "unsettled": [],
        "troubles": [],
        "last": [],
    }
    yield [json.dumps(kept).encode(), json.dumps(diary).encode()], read


@contextmanager
def model_replies(_: Path) -> Iterator[Reading]:
    """Read what a model's endpoint, or OpenClaw, answers to the wish for a note."""

    def read(content: bytes) -> None:
        for reading in (asking._openclaws_reply, lambda said: asking._endpoints_reply(said, "m")):
            with contextlib.suppress(LimpetError):
                reading(content)

    endpoint = {
        "model": "m",
        "choices": [{"message": {"content": "words"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }
    openclaw = {"ok": True, "model": "m", "outputs": [{"text": "words"}], "usage": {"input": 1, "output": 2}}
    yield [json.dumps(endpoint).encode(), json.dumps(openclaw).encode(), b'{"error": {"message": "no"}}'], read


READERS = (
    spool_line, spool_segment, spool_folder, imported_lines, packed_lines, archives, agent_cells, agent_bytes, audit_cells, gateway_log,
    script_cells, script_bytes, config_toml, openclaw_json, socket_requests, socket_answers, tool_arguments, mcp_lines, web_addresses,
    questions, note_files, redaction, bundle_files, quarantined_files, small_files, model_replies,
)  # fmt: skip


def fuzzed(reader: Any, folder: Path, seconds: float) -> str:
    """Feed one reader for so long, and return what it made of it that it must not, "" where nothing."""
    logging.getLogger("limpet").setLevel(logging.ERROR)
    with reader(folder) as (seeds, read):
        fuzzer = Fuzzer(reader.__name__, seeds)
        fuzzer.run(read, seconds)
    print(f"{reader.__name__}: {fuzzer.tried} inputs, {len(fuzzer.kept)} kept, {len(fuzzer.findings)} findings")
    return "\n".join(fuzzer.findings.values())


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_nothing_that_comes_in_breaks_its_reader(reader: Any, tmp_path: Path):
    """Some hundreds of spoilt inputs for each: no crash, no hang, no good neighbour lost."""
    assert fuzzed(reader, tmp_path, SHORT_S) == ""


@pytest.mark.soak
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_nothing_that_comes_in_for_long_breaks_its_reader(reader: Any, tmp_path: Path):
    """The same for as long as `LIMPET_FUZZ_SECONDS` says."""
    assert fuzzed(reader, tmp_path, SOAK_S) == ""
