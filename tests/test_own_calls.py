"""Calls of Limpet's own tools: marked, left out unless asked for, and what they gave back is not found as news."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab import call, hook, message, numbered, text_result
from limpet.memory import Memory

if TYPE_CHECKING:
    from lab import Lab, Line

QUOTED = "PELICAN sank at noon"
NAMES = [
    "memory_ask",
    "memory_recent",
    "memory_session",
    "memory_show",
    "limpet__memory_ask",
    "mcp__limpet__memory_show",
    "mcp_limpet_memory_ask",
    "limpet_memory_recent",
    "limpet-memory_session",
    "limpet.memory_ask",
    "limpet:memory_ask",
]
ASKED = ("", "noise:yes", "label:own", "-label:heartbeat")
"""What else is asked for; leaving heartbeats out lets nothing else in."""

OTHERS = [
    "memory_search",
    "memory_get",
    "memory_ask_again",
    "my_memory_ask",
    "mcp__other__memory_ask",
    "limpet",
    "exec",
]


def told_by_all(tool: str, params: Line, text: str) -> list[Line]:
    """Return what every witness says of one call: begin, end, and the two messages written."""
    called = {"type": "toolCall", "id": "c1", "name": tool, "arguments": params}
    written = {"role": "toolResult", "toolCallId": "c1", "toolName": tool, **text_result(text), "isError": False}
    return [
        hook("before_message_write", {"message": {"role": "assistant", "content": [called], "timestamp": 1}}, 0),
        call("c1", 1, tool=tool, begins=True, params=params),
        call("c1", 2, tool=tool, params=params, result=text_result(text)),
        hook("before_message_write", {"message": written}, 3),
    ]


@pytest.mark.parametrize("tool", NAMES)
def test_a_call_of_ours_is_marked_and_left_out(lab: Lab, tool: str) -> None:
    """Under each name that a client gives it; shown when asked for."""
    lab.take(told_by_all(tool, {"question": "what sank"}, QUOTED))
    assert [(event.tool, event.label) for event in lab.events("tool_call")] == [(tool, "own")]
    with Memory(lab.settings) as memory:
        asked = [memory.ask(f"type:tool_call on:2026-06-01 {more}").count for more in ASKED]
    assert asked == [0, 1, 1, 0]


@pytest.mark.parametrize("tool", OTHERS)
def test_a_call_that_only_sounds_like_ours_is_shown(lab: Lab, tool: str) -> None:
    """Nobody hides a call behind a name that is nearly ours."""
    lab.take(told_by_all(tool, {"question": "what sank"}, QUOTED))
    assert [(event.tool, event.label) for event in lab.events("tool_call")] == [(tool, "")]
    assert len(lab.found("PELICAN")) == 1


def test_a_call_through_openclaws_bridge_is_ours_too(lab: Lab) -> None:
    """`tool_call {id, args}` and the call that it makes."""
    params = {"id": "limpet__memory_ask", "args": {"question": "what sank"}}
    lab.take(told_by_all("tool_call", params, QUOTED))
    assert [event.label for event in lab.events("tool_call")] == ["own"]
    assert lab.found("PELICAN") == []


@pytest.mark.parametrize("order", [1, -1])
def test_what_a_tool_of_ours_gave_back_is_not_found(lab: Lab, order: int) -> None:
    """A search finds the event, not last week's answer that quotes it; the question can be found. In any order."""
    told = [
        *told_by_all("memory_ask", {"question": "what sank"}, QUOTED),
        call("real", 9_000, result=text_result(QUOTED)),
    ]
    lab.take(numbered(told)[::order])
    assert [event.call for event in lab.found("PELICAN")] == ["real"]
    assert [event.call for event in lab.found("what sank")] == ["c1"]
    assert sum(QUOTED in str(record.body) for record in lab.records()) == 3


def test_a_rebuild_gives_the_same(lab: Lab) -> None:
    """Events and what can be searched are made anew from the ledger."""
    lab.take(
        [
            call("real", 9_000, result=text_result(QUOTED)),
            *told_by_all("limpet__memory_ask", {"question": "what sank"}, QUOTED),
        ]
    )
    before = (lab.events(), lab.found("PELICAN"))
    with lab.recording() as recording:
        recording.recorder.rebuild(lambda _: None)
        recording.store.empty_index()
        while recording.recorder.index():
            pass
    assert (lab.events(), lab.found("PELICAN")) == before


def test_a_transcript_tells_of_it_in_the_same_way(lab: Lab) -> None:
    """Where hooks saw nothing, the transcript's entries alone mark it and give nothing away."""
    called = {"type": "toolCall", "id": "c1", "name": "memory_show", "arguments": {"event": "5"}}
    path = lab.file("s-9.jsonl", [
        {"type": "session", "id": "s-9", "timestamp": "2026-06-01T12:00:00Z"},
        message(1, "assistant", [called], 1),
        message(2, "toolResult", [{"type": "text", "text": QUOTED}], 2, toolCallId="c1", toolName="memory_show"),
    ])  # fmt: skip
    lab.imported(path)
    assert [(event.tool, event.label) for event in lab.events("tool_call")] == [("memory_show", "own")]
    assert lab.found("PELICAN") == []
