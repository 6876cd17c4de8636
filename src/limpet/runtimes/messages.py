"""What one message of a conversation says happened: a message, tool calls begun, tool calls ended. Pure.

Three dialects: OpenClaw's (`toolCall` blocks, `toolResult` messages), Anthropic's (`tool_use`, `tool_result` blocks)
and the codex harness's (`function_call` items), see field case F36.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from limpet import jsonline, text
from limpet.framing import without_quotations
from limpet.model import OWN
from limpet.runtimes.outcome import outcome_of, words_of
from limpet.runtimes.saying import duration, is_own_call, mapping, name, trust_of_tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.model import Fact, Json
    from limpet.runtimes.saying import Saying

CALL_BLOCKS = frozenset({"toolCall", "tool_use", "tool_call", "function_call", "toolUse"})
RESULT_BLOCKS = frozenset({"tool_result", "toolResult", "function_call_output"})
SILENT_BLOCKS = frozenset({"thinking", "redacted_thinking", "reasoning"})
RESULT_ROLES = frozenset({"toolResult", "tool", "function"})
RESTART = re.compile(r"^\s*\[System\] Your previous turn was interrupted by a gateway restart")
SYSTEM = re.compile(r"^\s*(\[System\]|System:|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>)")
RECOVERY = "main_session_restart_recovery"
"""What OpenClaw says is the source of the message by which a session is resumed after a restart."""

REPAIR = "inserted synthetic error result for transcript repair"
"""What OpenClaw writes into the result of a call that never returned."""

HEARTBEAT = "HEARTBEAT_OK"
SUMMARY_CHARS = 200
MESSAGE_RANK, BLOCK_RANK = 1, 1


def facts_of_message(saying: Saying, message: Mapping[str, Any], entry: str = "") -> list[Fact]:
    """Return the facts of one message; `entry` is the identity of the statement where it stands in a transcript."""
    role = name(message.get("role"))
    here = saying.at(message.get("timestamp"))
    if role in RESULT_ROLES:
        return [ended(here, message, 0, entry)]
    if role == "custom":
        return _custom(here, message, entry)
    if role == "user":
        key = name(message.get("idempotencyKey"))
        here = replace(here, run=key.removesuffix(":user") if key.endswith(":user") else "")
    calls = list(_blocks(here, message, entry))
    said = without_quotations(text.plain(_spoken(message.get("content"))))
    facts = [] if not said.strip() and (calls or role == "assistant") else [_message(here, message, role, said, entry)]
    return [*facts, *(_run(here, message, role) if entry or role != "user" else ()), *calls]


NESTED = "openclaw.nested-tool.v1"
"""A message that OpenClaw writes for a tool that was reached through the tool `tool_call`: the whole call in one."""


def _custom(saying: Saying, message: Mapping[str, Any], entry: str) -> list[Fact]:
    """Return a nested tool call from its message; other custom messages are notes of the runtime to itself."""
    details = mapping(message.get("details"))
    if message.get("customType") != NESTED or not details:
        return []
    run = name(details.get("runId"))
    here = replace(saying, run=run) if run else saying
    tool, params = name(details.get("toolName")), details.get("input")
    said: dict[str, Any] = {"toolCallId": details.get("toolCallId"), "toolName": tool, "details": {}}
    result = mapping(details.get("result"))
    said |= {"content": result.get("content"), "details": mapping(result.get("details"))}
    said |= {k: details[k] for k in ("isError", "error", "durationMs") if details.get(k) is not None}
    # It is written after the call's end was told, so it is one more end and not a beginning.
    over = ended(here, said, 0, entry)
    return [replace(over, summary=summary_of_call(tool, params), text=f"{tool} {text.plain(params)} {over.text}")]


def begun(saying: Saying, block: Mapping[str, Any], part: int, entry: str = "") -> Fact:
    """Return the start of a tool call from a block that asks for it."""
    call = name(block.get("id")) or name(block.get("call_id")) or name(block.get("toolCallId"))
    tool = name(block.get("name")) or name(block.get("toolName"))
    params = next((block[k] for k in ("arguments", "input", "params") if block.get(k) is not None), None)
    return call_fact(
        saying, "start", part, call, tool, _opened(params), entry=entry and f"{entry}/{part}", rank=BLOCK_RANK
    )


def ended(saying: Saying, said: Mapping[str, Any], part: int, entry: str = "") -> Fact:
    """Return the end of a tool call from a message or block that holds its result."""
    call = next((name(said[k]) for k in ("toolCallId", "tool_use_id", "tool_call_id", "call_id") if said.get(k)), "")
    content = said.get("content", said.get("output"))
    verdict: dict[str, Any] = {k: v for k, v in said.items() if k not in ("content", "role", "status")}
    verdict["result"] = content if isinstance(content, dict | str) else {"content": content}
    outcome = outcome_of(verdict)
    words = text.plain(content)
    made_up = mapping(said.get("details")).get("openclawSyntheticMissingToolResult")
    synthetic = said.get("synthetic") is True or made_up is True or REPAIR in words
    return call_fact(
        saying, "end", part, call, name(said.get("toolName")), None,
        entry=entry and f"{entry}/{part}",
        rank=0 if synthetic else BLOCK_RANK,
        status="" if synthetic else outcome.status,
        error="" if synthetic else text.one_line(outcome.error, 500),
        flags=("synthetic",) if synthetic else outcome.flags,
        duration_ms=duration(said.get("durationMs", mapping(said.get("details")).get("durationMs"))),
        text=words,
    )  # fmt: skip


def call_fact(saying: Saying, phase: str, part: int, call: str, tool: str, params: Json, **fields: Any) -> Fact:
    """Return a fact of a tool call; its key is the call's id, a missing id matches nothing."""
    begins = phase != "end"
    fields.setdefault("text", "")
    fields.setdefault("summary", summary_of_call(tool, params) if begins else "")
    if begins and params is not None:
        fields["text"] = f"{tool} {text.plain(params)} {fields['text']}".strip()
    if is_own_call(tool, params):
        fields["label"] = OWN
    return saying.fact(
        "tool_call", phase, part, *([f"call:{call}"] if call else []),
        call=call, tool=tool, actor="agent", trust=trust_of_tool(tool) if tool else "",
        **fields,
    )  # fmt: skip


def summary_of_call(tool: str, params: Json) -> str:
    """Return a call in a few words: the tool and its telling argument."""
    telling = params
    if isinstance(params, dict):
        telling = next((params[k] for k in TELLING if isinstance(params.get(k), str) and params[k]), None)
        if telling is None:
            telling = jsonline.dump(params).decode() if params else ""
    elif params is not None and not isinstance(params, str):
        telling = jsonline.dump(params).decode()
    return text.one_line(f"{tool or 'a tool'} {telling or ''}".strip(), SUMMARY_CHARS)


TELLING = (
    "command",
    "cmd",
    "path",
    "file_path",
    "filePath",
    "url",
    "query",
    "q",
    "task",
    "message",
    "pattern",
    "id",
    "question",
)
"""The arguments that say most about a call, best first."""


def _opened(params: Json) -> Json:
    """Open arguments that are JSON printed into a string, as OpenAI-style calls have them."""
    if isinstance(params, str) and params.lstrip().startswith(("{", "[")):
        try:
            return jsonline.parse_text(params)
        except ValueError:
            return params
    return params


def _blocks(saying: Saying, message: Mapping[str, Any], entry: str) -> Iterator[Fact]:
    content = message.get("content")
    blocks: Sequence[Any] = content if isinstance(content, list) else ()
    for part, block in enumerate(blocks, start=2):
        kind = name(block.get("type")) if isinstance(block, dict) else ""
        if kind in CALL_BLOCKS:
            yield begun(saying, block, part, entry)
        elif kind in RESULT_BLOCKS:
            yield ended(saying, block, part, entry)


def _spoken(content: Json) -> Json:
    """Return what was said, without the calls, their results and the model's own thinking."""
    if not isinstance(content, list):
        return content
    left_out = CALL_BLOCKS | RESULT_BLOCKS | SILENT_BLOCKS
    return [b for b in content if not (isinstance(b, dict) and name(b.get("type")) in left_out)]


def _message(saying: Saying, message: Mapping[str, Any], role: str, said: str, entry: str) -> Fact:
    provenance = mapping(message.get("provenance"))
    system = role == "system" or provenance.get("kind") == "internal_system" or bool(SYSTEM.match(said))
    restarted = provenance.get("sourceTool") == RECOVERY or RESTART.match(said)
    flags = ("restart",) if restarted else ()
    quiet = said.strip() == HEARTBEAT
    return saying.fact(
        "message", "whole", 0, *_keys(saying, message, role, entry),
        actor="system" if system else {"assistant": "agent", "user": "user"}.get(role, role or "unknown"),
        trust=_trust(message, role, system=system),
        label="heartbeat" if quiet else saying.label,
        summary=text.one_line(said, SUMMARY_CHARS),
        text=said, flags=flags, rank=MESSAGE_RANK,
        details=_details(message),
    )  # fmt: skip


def _keys(saying: Saying, message: Mapping[str, Any], role: str, entry: str) -> Iterator[str]:
    """Yield everything by which another witness would name the same message."""
    if entry:
        yield f"entry:{entry}"
    if own := name(message.get("id")):
        yield f"id:{role}:{own}"
    if key := name(message.get("idempotencyKey")):
        yield f"key:{key}:{role}"
        if key.endswith(":user"):
            yield incoming(saying.session_key, key.removesuffix(":user"))
    transport = mapping(mapping(message.get("__openclaw")).get("transport"))
    if channel_id := name(transport.get("messageId")):
        yield incoming(saying.session_key, channel_id)
    stamp, answer = message.get("timestamp"), name(message.get("responseId"))
    if isinstance(stamp, int):
        yield f"at:{saying.agent}:{role}:{stamp}:{answer}"


def incoming(session_key: str, message_id: str) -> str:
    """Return the key of a message that came in: a channel numbers its messages anew in each conversation."""
    return f"in:{session_key}:{message_id}"


def _trust(message: Mapping[str, Any], role: str, *, system: bool) -> str:
    if system:
        return "system"
    if role == "assistant":
        return "agent"
    owner = mapping(message.get("__openclaw")).get("senderIsOwner")
    return "owner" if owner is True else "unknown"


def _details(message: Mapping[str, Any]) -> Json:
    usage = mapping(message.get("usage"))
    kept = {"model": name(message.get("model")), "input": usage.get("input"), "output": usage.get("output")}
    return {k: v for k, v in kept.items() if v} or None


def _run(saying: Saying, message: Mapping[str, Any], role: str) -> Iterator[Fact]:
    """Yield what a message says of its run, where it names one: the user's words begin it, the last answer ends it.

    OpenClaw's own agent_end says `success` even after an HTTP 500; the message's `stopReason` does not.
    """
    if not saying.run or role not in ("user", "assistant"):
        return
    error = words_of(message.get("errorMessage"))
    failed = bool(error) or message.get("stopReason") == "error"
    if role == "user":
        yield saying.fact("run", "start", 1, f"run:{saying.run}", actor="agent", trust="agent", summary="agent run")
    elif failed or name(message.get("stopReason")) not in UNFINISHED:
        status = "failed" if failed else STOPPED.get(name(message.get("stopReason")), "succeeded")
        words = text.one_line(error or ("the model call failed" if failed else ""), 500)
        yield saying.fact(
            "run",
            "end",
            1,
            f"run:{saying.run}",
            actor="agent",
            trust="agent",
            summary="agent run",
            status=status,
            error=words,
            text=words,
        )


UNFINISHED = frozenset({"", "toolUse", "tool_use", "tool_calls"})
STOPPED = {"aborted": "cancelled", "cancelled": "cancelled"}
