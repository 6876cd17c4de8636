"""The MCP server: a real client is answered, whatever else comes in, and the process lives no longer than its input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import framed
from lab import PATIENCE_S, call, hook, text_result, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Lab

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
QUESTION = {"question": "type:tool_call since:2026-06-01"}


def asked(number: int, tool: str, arguments: Any) -> dict[str, Any]:
    """Return a call of a tool as a client sends it."""
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def spoken(lab: Lab, *messages: Any, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Say these to a server, end its input, and return what it said; bytes are said as they are."""
    said = b"".join(m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages)
    command = [sys.executable, "-W", "always", "-m", "limpet", "mcp"]
    env = {**lab.environment, **environment}
    return subprocess.run(
        command, input=said, env=env, cwd=lab.folder, capture_output=True, timeout=PATIENCE_S, check=False
    )


def messages_of(done: subprocess.CompletedProcess[bytes]) -> dict[Any, Any]:
    """Return the messages on standard output by their id; fails for a line that is none."""
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["jsonrpc"] for one in said} == {"2.0"}
    return {one.get("id"): one for one in said}


@contextmanager
def running(lab: Lab, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that has been greeted, until the end of the test."""
    command = [sys.executable, "-m", "limpet", "mcp", *arguments]
    with subprocess.Popen(
        command,
        env=lab.environment,
        cwd=lab.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        said(process, HELLO)
        yield process
        process.kill()


def said(process: subprocess.Popen[bytes], message: Any) -> Any:
    """Say one thing to a running server and return its answer."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_real_client_finds_and_calls_the_tools(lab: Lab, mode: str) -> None:
    """With the handshake of today and with the older one."""
    lab.take([call("c1"), call("c2", 1, result=None, error="no")])
    transport = StdioServerParameters(command=sys.executable, args=["-m", "limpet", "mcp"], env=lab.environment)

    async def talk() -> tuple[list[str], set[bool | None], Any, Any]:
        async with Client(stdio_client(transport), mode=mode) as client:
            listed = (await client.list_tools()).tools
            good = await client.call_tool("memory_ask", QUESTION)
            bad = await client.call_tool("memory_ask", {"question": "failed tool cals"})
            return [one.name for one in listed], {one.annotations.read_only_hint for one in listed}, good, bad  # type: ignore[union-attr]

    names, only_reads, good, bad = anyio.run(talk)
    assert names == ["memory_ask", "memory_recent", "memory_session", "memory_show"]
    assert only_reads == {True}
    assert (good.is_error, framed.data(good.content[0].text)["count"]) == (False, 2)
    assert (bad.is_error, framed.data(bad.content[0].text)["error"]["code"]) == (True, "not_understood")


def test_garbage_is_survived_and_nothing_but_the_protocol_is_printed(lab: Lab) -> None:
    """Bytes, broken JSON, wrong shapes, unknown methods and tools; in a locale without UTF-8 (field case F73)."""
    lab.take([call("c1", result=text_result("日本"))])
    done = spoken(
        lab,
        HELLO,
        READY,
        b"\xff\xfe\x00 not json\n",
        b"{\n[]\n\n5\nnull\n" + b"[" * 5_000 + b"\n",
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}\n',
        {"jsonrpc": "2.0", "id": 8, "method": "no/such/method"},
        {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "memory_ask", "arguments": "x"}},
        asked(10, "no_such_tool", {}),
        asked(11, "memory_ask", {"question": "x" * 100_000}),
        asked(12, "memory_ask", QUESTION),
        LANG="C",
        LC_ALL="C",
        PYTHONUTF8="0",
    )
    answers = messages_of(done)
    assert done.returncode == 0
    assert {7, 8, 9} <= {number for number, one in answers.items() if "error" in one}
    assert [answers[n]["result"]["isError"] for n in (10, 11, 12)] == [True, True, False]
    assert framed.data(answers[12]["result"]["content"][0]["text"])["count"] == 1


def test_without_a_memory_it_serves_and_says_so(lab: Lab) -> None:
    """The tools are there, and a question gets a sentence."""
    answers = messages_of(spoken(lab, HELLO, READY, asked(2, "memory_recent", {})))
    assert framed.data(answers[2]["result"]["content"][0]["text"])["error"]["code"] == "no_database"


def test_it_answers_with_the_sidecar_and_without(lab: Lab) -> None:
    """What has just been spooled is in the answer, through the sidecar or taken in by the server itself."""
    lab.take([call("c1")])
    with running(lab) as server:
        lab.spool([call("c2", 1)], "two")
        without = said(server, asked(2, "memory_ask", QUESTION))
        with lab.sidecar():
            lab.spool([call("c3", 2)], "three")
            beside = said(server, asked(3, "memory_ask", QUESTION))
    counts = [framed.data(one["result"]["content"][0]["text"])["count"] for one in (without, beside)]
    assert counts == [2, 3]


def test_one_agent_is_shown_where_one_is_named(lab: Lab) -> None:
    """`--agent` holds for every tool."""
    lab.take([call("c1", ctx={"agentId": "alpha"}), call("c2", ctx={"agentId": "beta"})])
    with running(lab, "--agent", "beta") as server:
        given = said(server, asked(2, "memory_ask", QUESTION))["result"]["content"][0]["text"]
    assert [event["call"] for event in framed.data(given)["events"]] == ["c2"]


def test_questions_change_nothing(lab: Lab) -> None:
    """The ledger and the events are the same afterwards, whatever was asked."""
    lab.take([call("c1"), hook("message_received", {"content": "hi"})])
    before = (lab.records(), lab.events())
    tools = [
        ("memory_ask", QUESTION),
        ("memory_recent", {}),
        ("memory_session", {"session": "s-1"}),
        ("memory_show", {"event": 4096}),
    ]
    asked_for = [
        asked(n, *one) for n, one in enumerate((*tools, ("memory_ask", {"question": "'; DROP TABLE record; --"})), 2)
    ]
    done = spoken(lab, HELLO, READY, *asked_for)
    assert len(messages_of(done)) == 6
    assert (lab.records(), lab.events()) == before


def test_it_ends_with_its_input(lab: Lab) -> None:
    """Also when the client was killed, or never said anything (field case F73)."""
    lab.take([call("c1")])
    assert spoken(lab).returncode == 0
    with running(lab) as server:
        assert server.stdin
        server.stdin.close()
        assert server.wait(PATIENCE_S) == 0


def test_it_does_not_outlive_a_client_that_was_killed(lab: Lab) -> None:
    """The pipes of a dead parent are closed, and so is the server."""
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'limpet', 'mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = lab.python("-c", code)
    assert parent.stdout
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    until(lambda: is_gone(child), "the server has ended")


def test_a_wrong_setting_is_said_on_standard_error(lab: Lab) -> None:
    """A zone that does not exist stops it before it begins, with a sentence."""
    done = lab.limpet("mcp", "--tz", "Mars/Olympus")
    assert (done.status, done.out) == (2, "")
    assert "There is no time zone" in done.err


def is_gone(pid: int) -> bool:
    """Whether no process with this id runs any more; one that nobody waits for counts as gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as status:
            return status.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
