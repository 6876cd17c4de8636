"""One memory, many doors: the same question has the same answer, and the sidecar's door hinders nobody."""

from __future__ import annotations

import json
import socket
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import framed
import injections
from lab import Lab, call, hook, until
from limpet import door, wire
from limpet.errors import LimpetError
from limpet.memory import Memory
from visitor import visiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

QUESTIONS = [
    "type:tool_call agent:main on:2026-06-01",
    "failed tool calls by agent main between 2026-06-01 and 2026-06-02",
    "is:error agent:main on:2026-06-01 by:tool",
    "how many tool calls by agent main per hour on 2026-06-01",
    '"disk full" agent:main since:2026-06-01 until:2026-06-01',
    "agent:main on:2026-06-01 sort:oldest take:3",
    "number of sessions by agent main on 2026-06-01",
    "agent:main on:2026-06-01 limit:2 offset:1",
    "type:message agent:main on:2026-05-01",
    "failed tool cals yesterday",
    "agent:main on:2026-02-30",
]


@pytest.fixture(scope="module")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Keep a sidecar running over a memory with two agents."""
    lab = Lab(tmp_path_factory.mktemp("house"))
    lab.take([
        call("c1"), call("c2", 1, result=None, error="disk full"), call("c3", 2, tool="read"),
        hook("message_received", {"content": "the disk full again?", "messageId": "m"}, 3),
        call("c4", 4, ctx={"agentId": "other", "sessionKey": "agent:other:main", "sessionId": "s-o"}),
    ])  # fmt: skip
    with lab.sidecar():
        yield lab


def by_command(lab: Lab) -> list[Any]:
    """Ask on the command line."""
    return [lab.limpet("ask", "--json", question).json for question in QUESTIONS]


def by_python(lab: Lab) -> list[Any]:
    """Ask through `Memory`."""
    with closing(Memory(lab.settings)) as memory:
        return [_by_python(memory, question) for question in QUESTIONS]


def _by_python(memory: Memory, question: str) -> Any:
    try:
        return wire.answer(memory.ask(question), question)
    except LimpetError as problem:
        return {"error": {"code": problem.code, "message": problem.message, "hint": problem.hint}}


def by_mcp(lab: Lab) -> list[Any]:
    """Ask with a real MCP client that starts `limpet mcp`."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "limpet", "mcp"], env=lab.environment)

    async def talk() -> list[str]:
        async with Client(stdio_client(server)) as client:
            answers = [await client.call_tool("memory_ask", {"question": question}) for question in QUESTIONS]
            return [answer.content[0].text for answer in answers]  # type: ignore[union-attr]

    return [framed.data(text) for text in anyio.run(talk)]


def by_plugin(lab: Lab) -> list[Any]:
    """Ask as the plugin does, through the sidecar's socket."""
    return [framed.data(asked(lab, question=question)["text"]) for question in QUESTIONS]


def by_http(lab: Lab) -> list[Any]:
    """Ask the web page's API."""
    with visiting(lab) as someone:
        return [someone.get("/api/ask", q=question).json for question in QUESTIONS]


DOORS: dict[str, Callable[[Lab], list[Any]]] = {
    "python": by_python,
    "mcp": by_mcp,
    "plugin": by_plugin,
    "http": by_http,
}
"""Every door but the command line, which the others are held against: what each says to all the questions."""


@pytest.fixture(scope="module")
def told(open_house: Lab) -> list[Any]:
    """Return what the command line says to the questions."""
    return by_command(open_house)


def asked(lab: Lab, tool: str = "memory_ask", agent: Any = "main", whole: Any = True, **arguments: Any) -> Any:
    """Return the sidecar's answer to what the plugin asks."""
    request = {"name": tool, "arguments": arguments, "agent": agent, "whole": whole, "session_key": "agent:main:main"}
    return lab.asked(op="tool", **request)


@pytest.mark.parametrize("way", DOORS)
def test_the_same_question_has_the_same_answer_through_every_door(open_house: Lab, told: list[Any], way: str) -> None:
    """Counts, events, groups, window, coverage; or the same refusal."""
    assert dict(zip(QUESTIONS, told, strict=True)) == dict(zip(QUESTIONS, DOORS[way](open_house), strict=True))
    assert [answer.get("count") for answer in told[:8]] == [3, 1, 1, 3, 2, 3, 1, 4]
    assert [answer["error"]["code"] for answer in told[9:]] == ["not_understood", "impossible_date"]


def test_who_asks_decides_what_is_seen(open_house: Lab) -> None:
    """The whole agent, this conversation, or nothing where it is not known who asks."""
    question = {"question": "type:tool_call on:2026-06-01"}
    seen = [
        framed.data(asked(open_house, agent=agent, whole=whole, **question)["text"]).get("count")
        for agent, whole in (
            ("main", True),
            ("other", True),
            ("main", False),
            ("other", False),
            ("", True),
            (None, True),
        )
    ]
    assert seen == [3, 1, 3, 0, None, None]


@pytest.mark.parametrize(
    "request_",
    [
        {"op": "tool"},
        {"op": "tool", "name": "memory_ask", "arguments": {"question": "errors"}},
        {"op": "tool", "name": "memory_ask", "arguments": {"question": "errors"}, "agent": 5, "whole": True},
        {
            "op": "tool",
            "name": "memory_ask",
            "arguments": {"question": "errors"},
            "agent": "main",
            "whole": "yes",
            "session_key": 1,
        },
        {"op": "tool", "name": ["x"], "arguments": [1], "agent": "main", "whole": True},
    ],
)
def test_a_request_that_says_not_who_asks_is_shown_nothing(open_house: Lab, request_: dict[str, Any]) -> None:
    """It gets a sentence in a frame."""
    answer = open_house.asked(**request_)
    assert answer["code"] in ("bad_input", "not_found")
    assert framed.data(answer["text"])["error"]["message"]


def test_every_text_that_wants_to_be_an_order_is_quoted_at_the_door(open_house: Lab) -> None:
    """As a name, an argument, an agent, a conversation."""
    for one in injections.INJECTIONS:
        for request in (
            {"name": one.text, "arguments": {}, "agent": "main", "whole": True},
            {"name": "memory_session", "arguments": {"session": one.text[:900]}, "agent": "main", "whole": True},
            {"name": "memory_ask", "arguments": {"question": "errors"}, "agent": one.text, "session_key": one.text},
        ):
            said = open_house.asked(op="tool", **request)["text"]
            assert "obey" not in framed.said(said)
            assert "ZEBRA" not in framed.said(said)
            assert "<" not in framed.parts(said)[1]


@pytest.mark.parametrize(
    "said",
    [b'{"op":"tool","x":"' + b"x" * (2 << 20), b'{"op":' * 50_000 + b"\n", b"[" * 50_000 + b"\n"],
    ids=["two megabytes", "objects in objects", "lists in lists"],
)
def test_requests_beyond_the_bound_are_refused(open_house: Lab, said: bytes) -> None:
    """Too long or too deep a line gets an answer, and the sidecar goes on."""
    address = str(door.address_of(open_house.settings.socket))
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(20)
        caller.connect(address)
        threading.Thread(target=_send, args=(caller, said), daemon=True).start()
        answer = caller.recv(1 << 16)
    assert b'"bad_input"' in answer
    assert open_house.answers()


def _send(caller: socket.socket, said: bytes) -> None:
    try:
        caller.sendall(said)
    except OSError:
        return  # it has heard enough


def test_twenty_at_once_are_all_answered_while_events_come_in(open_house: Lab) -> None:
    """Nobody waits for somebody else's question longer than their turn, and recording goes on."""
    answers: list[Any] = []
    question = {"question": "type:tool_call agent:main on:2026-06-01"}
    threads = [threading.Thread(target=lambda: answers.append(asked(open_house, **question))) for _ in range(20)]
    for thread in threads:
        thread.start()
    open_house.spool([call("late", 50_000, ctx={"agentId": "third"})], "late")
    for thread in threads:
        thread.join()
    assert {answer["code"] for answer in answers} <= {"", "busy"}
    assert sum(answer["code"] == "" for answer in answers) >= 4
    until(lambda: open_house.events(agent="third"), "the late call is recorded")


def test_what_was_just_spooled_is_in_the_answer(open_house: Lab) -> None:
    """The sidecar takes in what waits before it answers."""
    open_house.spool([call("fresh", 60_000, ctx={"agentId": "fourth"})], "fresh")
    answer = framed.data(asked(open_house, agent="fourth", question="type:tool_call on:2026-06-01")["text"])
    assert [event["call"] for event in answer["events"]] == ["fresh"]


def test_unknown_operations_are_named(open_house: Lab) -> None:
    """The door says what it knows."""
    assert "`tool`" in json.dumps(open_house.asked(op="forget"))
