"""What each of OpenClaw's plugin hooks means: records in, facts out. Pure; `docs/how-it-works.md` has the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.model import OWN, UNWRITTEN
from limpet.runtimes.messages import call_fact, facts_of_message, incoming, summary_of_call
from limpet.runtimes.outcome import outcome_of, status_word, words_of
from limpet.runtimes.saying import duration, gateway_turn, keyed, mapping, name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from limpet.model import Fact, Json
    from limpet.runtimes.saying import Saying

HOOK_RANK = 2
"""A hook saw the thing itself; a transcript was written about it afterwards."""

SUMMARY_CHARS = 200
COMPACTING = ":compaction:"
"""Stands in the id of what is no run of the agent: the model call that shrinks its prompt."""


def before_tool_call(saying: Saying) -> Sequence[Fact]:
    """Return the start of a tool call."""
    event = saying.event
    return [call_fact(saying, "start", 0, _call(saying), _tool(saying), event.get("params"), rank=HOOK_RANK)]


def after_tool_call(saying: Saying) -> Sequence[Fact]:
    """Return the end of a tool call, with what it was, since not every runtime says when it began."""
    event = saying.event
    outcome = outcome_of(event, event.get("params"))
    return [
        call_fact(
            saying, "end", 0, _call(saying), _tool(saying), event.get("params"), rank=HOOK_RANK,
            status=outcome.status, error=text.one_line(outcome.error, 500), flags=outcome.flags,
            duration_ms=duration(event.get("durationMs")),
            summary=summary_of_call(_tool(saying), event.get("params")),
            text=" ".join((_tool(saying), *map(text.plain, map(event.get, ("params", "result", "error"))))),
        )
    ]  # fmt: skip


def before_message_write(saying: Saying) -> Sequence[Fact]:
    """Return what a message says that is about to be written to the transcript."""
    message = mapping(saying.event.get("message"))
    facts = facts_of_message(saying, message)
    if is_prompt(message):
        return [replace(f, label="internal", flags=(*f.flags, UNWRITTEN)) if f.type == "message" else f for f in facts]
    return facts


def is_prompt(message: Mapping[str, Any]) -> bool:
    """Whether a user's message is the runtime's own prompt to the model: a retry, a subagent's result to be relayed.

    The hook tells of it, and the transcript never gets it (seen in a real gateway). What a user says comes with a key
    or with OpenClaw's own field; if a transcript does hold the message, it is one of the user's all the same.
    """
    marks = message.get("idempotencyKey") or message.get("__openclaw")
    return message.get("role") == "user" and isinstance(message.get("content"), list) and not marks


def message_received(saying: Saying) -> Sequence[Fact]:
    """Return a message that came in; its id is the one the channel or the client gave."""
    event = saying.event
    said = text.plain(event.get("content"))
    message_id = name(event.get("messageId")) or name(saying.ctx.get("messageId"))
    keys = [incoming(saying.session_key, message_id)] if message_id else []
    owner = mapping(event.get("metadata")).get("senderIsOwner", saying.ctx.get("senderIsOwner"))
    return [
        saying.fact(
            "message", "whole", 0, *keys,
            actor="user", trust="owner" if owner is True else "unknown",
            summary=text.one_line(said, SUMMARY_CHARS), text=said, details=_from(saying),
        )
    ]  # fmt: skip


def message_sent(saying: Saying) -> Sequence[Fact]:
    """Return the delivery of a message to a channel, with its outcome; the message itself is told by other records."""
    event = saying.event
    said = text.plain(event.get("content"))
    failed = event.get("success") is False or bool(words_of(event.get("error")))
    label = "heartbeat" if said.strip() == "HEARTBEAT_OK" else saying.label
    message_id = name(event.get("messageId"))
    return [
        saying.fact(
            "delivery", "whole", 0, *([f"sent:{saying.session_key}:{message_id}"] if message_id else []),
            actor="agent", trust="agent", label=label, status="failed" if failed else "succeeded",
            error=text.one_line(words_of(event.get("error")), 500),
            summary=text.one_line(said, SUMMARY_CHARS), text=said, details=_from(saying),
        )
    ]  # fmt: skip


def model_call_started(saying: Saying) -> Sequence[Fact]:
    """Return the start of a model call, and of its run where it is the first one."""
    call = name(saying.event.get("callId"))
    facts = [_model_call(saying, "start")]
    if saying.run and call.endswith(":model:1") and COMPACTING not in saying.run:
        facts.append(_run_start(saying))
    return facts


def model_call_ended(saying: Saying) -> Sequence[Fact]:
    """Return the end of a model call with its outcome."""
    event = saying.event
    said = name(event.get("outcome"))
    failed = said not in ("", "completed") or bool(event.get("errorCategory"))
    status = (status_word(said) or "failed") if failed else "succeeded"
    if failed and status == "succeeded":
        status = "failed"
    error = name(event.get("errorCategory")) or words_of(event.get("error"))
    return [_model_call(saying, "end", status=status, error=error, duration_ms=duration(event.get("durationMs")))]


def agent_end(saying: Saying) -> Sequence[Fact]:
    """Return the end of one attempt of a run; the last attempt's counts."""
    event = saying.event
    messages = event.get("messages")
    last = mapping(event.get("lastMessage")) or mapping(messages[-1] if messages and type(messages) is list else None)
    error = words_of(event.get("error")) or words_of(last.get("errorMessage"))
    failed = event.get("success") is False or bool(error) or last.get("stopReason") == "error"
    keys = [f"run:{saying.run}"] if saying.run else []
    return [
        saying.fact(
            "run", "end", 0, *keys, actor="agent", trust="agent", rank=HOOK_RANK, summary="agent run",
            status="failed" if failed else "succeeded",
            error=text.one_line(error or ("the run failed" if failed else ""), 500),
            duration_ms=duration(event.get("durationMs")), text=error,
        )
    ]  # fmt: skip


def session_start(saying: Saying) -> Sequence[Fact]:
    """Return the start of a session."""
    return [_session(saying, "start", status="started", summary="session started")]


def session_end(saying: Saying) -> Sequence[Fact]:
    """Return the end of a session, with the runtime's reason."""
    reason = name(saying.event.get("reason"))
    return [
        _session(
            saying,
            "end",
            status="succeeded",
            summary=f"session ended ({reason})" if reason else "session ended",
        )
    ]


def before_reset(saying: Saying) -> Sequence[Fact]:
    """Return a reset: the session goes on with an empty window."""
    reason = name(saying.event.get("reason"))
    place = saying.session_key or saying.session
    return [
        saying.fact(
            "reset", "whole", 0, *keyed("reset", place), actor="user", trust="system",
            summary=f"session reset ({reason})" if reason else "session reset", rank=HOOK_RANK,
        )
    ]  # fmt: skip


def before_compaction(saying: Saying) -> Sequence[Fact]:
    """Return the start of a compaction of the prompt."""
    return [_compaction(saying, "start", "prompt compaction")]


def after_compaction(saying: Saying) -> Sequence[Fact]:
    """Return the end of a compaction of the prompt."""
    counts = {k: v for k, v in saying.event.items() if k.endswith("Count") and isinstance(v, int)}
    words = ", ".join(f"{k} {v}" for k, v in sorted(counts.items()))
    return [_compaction(saying, "end", f"prompt compacted{f' ({words})' if words else ''}", status="succeeded")]


def subagent_spawned(saying: Saying) -> Sequence[Fact]:
    """Return the start of a subagent; its `call` is the child's run, its `details` name the child's session."""
    event = saying.event
    label = name(event.get("label"))
    return [
        _subagent(
            saying,
            "start",
            summary=text.one_line(f"subagent {label or _child(saying)} started", SUMMARY_CHARS),
        )
    ]


def subagent_ended(saying: Saying) -> Sequence[Fact]:
    """Return the end of a subagent. A reset of the main session is told by the same hook, and is no subagent."""
    event = saying.event
    if event.get("reason") == "session-reset" or event.get("targetKind") == "acp":
        return []
    outcome = name(event.get("outcome"))
    status = status_word(outcome) or ("succeeded" if outcome == "" else "unknown")
    return [_subagent(saying, "end", status=status, error=words_of(event.get("error")))]


def cron_changed(saying: Saying) -> Sequence[Fact]:
    """Return a run of a cron job, begun or ended, or a change of the job itself."""
    event = saying.event
    action = name(event.get("action"))
    job = mapping(event.get("job"))
    title = name(job.get("name")) or name(event.get("jobId"))
    agent = saying.agent or name(event.get("agentId")) or name(job.get("agentId"))
    if action not in ("started", "finished"):
        return [
            saying.fact(
                "cron",
                "whole",
                0,
                actor="system",
                trust="system",
                label=_cron_label(title) or "cron",
                agent=agent,
                summary=f"cron job {title} {action}",
                details=_promised(event, job),
            )
        ]
    ran = name(event.get("runAtMs")) or name(mapping(job.get("state")).get("lastRunAtMs"))
    phase = "start" if action == "started" else "end"
    said = text.plain(event.get("summary"))
    return [
        saying.fact(
            "cron", phase, 0, *keyed("cron", name(event.get("jobId")), ran), actor="system", trust="system",
            agent=agent, call=name(event.get("jobId")), rank=HOOK_RANK,
            summary=text.one_line(f"cron job {title}" + (f": {said}" if said else ""), SUMMARY_CHARS),
            status=_cron_status(event) if phase == "end" else "",
            error=text.one_line(words_of(event.get("error")), 500),
            duration_ms=duration(event.get("durationMs")), text=f"{title} {said}", label=_cron_label(title),
        )
    ]  # fmt: skip


def gateway_start(saying: Saying) -> Sequence[Fact]:
    """Return a start of the gateway: the evidence that what ran before was interrupted."""
    if saying.ctx.get("reload") is True:  # the process went on: nothing was interrupted
        return [
            saying.fact(
                "gateway", "whole", actor="system", trust="system", status="succeeded", summary="plugin reloaded"
            )
        ]
    return [gateway_turn(saying, "start", "gateway started", HOOK_RANK)]


def gateway_stop(saying: Saying) -> Sequence[Fact]:
    """Return a stop of the gateway, with its reason."""
    reason = name(saying.event.get("reason"))
    return [gateway_turn(saying, "stop", f"gateway stopped ({reason or 'no reason given'})", HOOK_RANK)]


HOOKS: Mapping[str, Callable[[Saying], Sequence[Fact]]] = {
    "before_tool_call": before_tool_call,
    "after_tool_call": after_tool_call,
    "before_message_write": before_message_write,
    "message_received": message_received,
    "message_sent": message_sent,
    "model_call_started": model_call_started,
    "model_call_ended": model_call_ended,
    "agent_end": agent_end,
    "session_start": session_start,
    "session_end": session_end,
    "before_reset": before_reset,
    "before_compaction": before_compaction,
    "after_compaction": after_compaction,
    "subagent_spawned": subagent_spawned,
    "subagent_ended": subagent_ended,
    "cron_changed": cron_changed,
    "gateway_start": gateway_start,
    "gateway_stop": gateway_stop,
}
"""Each hook that the plugin records, and what it means."""


def _call(saying: Saying) -> str:
    return name(saying.event.get("toolCallId")) or name(saying.ctx.get("toolCallId"))


def _tool(saying: Saying) -> str:
    return name(saying.event.get("toolName")) or name(saying.ctx.get("toolName"))


def _from(saying: Saying) -> Json:
    kept = {
        "channel": name(saying.ctx.get("channelId")),
        "from": name(saying.event.get("senderId")),
        "to": name(saying.event.get("to")),
    }
    return {k: v for k, v in kept.items() if v} or None


def _run_start(saying: Saying) -> Fact:
    key = f"run:{saying.run}"
    return saying.fact("run", "start", 1, key, actor="agent", trust="agent", rank=HOOK_RANK, summary="agent run")


def _model_call(saying: Saying, phase: str, **fields: Any) -> Fact:
    event = saying.event
    call = name(event.get("callId"))
    model = "/".join(filter(None, (name(event.get("provider")), name(event.get("model")))))
    return saying.fact(
        "model_call", phase, 0, *([f"model:{saying.run}:{call}"] if call else []),
        actor="agent", trust="agent", call=call, rank=HOOK_RANK, summary=f"model call {model}".strip(),
        text=fields.get("error", ""), **fields,
    )  # fmt: skip


def _session(saying: Saying, phase: str, **fields: Any) -> Fact:
    keys = [f"session:{saying.agent}:{saying.session}"] if saying.session else []
    return saying.fact("session", phase, 0, *keys, actor="system", trust="system", rank=HOOK_RANK, **fields)


def _compaction(saying: Saying, phase: str, summary: str, **fields: Any) -> Fact:
    place = saying.session_key or saying.session
    return saying.fact(
        "compaction",
        phase,
        0,
        *keyed("compaction", place),
        actor="system",
        trust="system",
        summary=summary,
        rank=HOOK_RANK,
        **fields,
    )


def _child(saying: Saying) -> str:
    return next(
        (
            name(v)
            for v in (
                saying.event.get("childSessionKey"),
                saying.event.get("targetSessionKey"),
                saying.ctx.get("childSessionKey"),
            )
            if v
        ),
        "",
    )


def _subagent(saying: Saying, phase: str, **fields: Any) -> Fact:
    event, child = saying.event, _child(saying)
    parent_key = name(saying.ctx.get("requesterSessionKey"))
    own_key = parent_key or ("" if saying.session_key == child else saying.session_key)
    details = {"child": child, "child_session": name(event.get("childSessionId"))}
    run = name(event.get("runId"))
    return saying.fact(
        "subagent", phase, 0, *keyed("subagent", child), actor="agent", trust="agent", session_key=own_key,
        call=run if phase == "start" else "", rank=HOOK_RANK,
        details={k: v for k, v in details.items() if v} or None, **fields,
    )  # fmt: skip


def _cron_label(title: str) -> str:
    """Return the noise label of a job that Limpet itself has made: its nightly run is nothing that happened."""
    return OWN if title.startswith("limpet-") else ""


def _promised(event: Mapping[str, Any], job: Mapping[str, Any]) -> Json:
    """Return which job it is, and when it is due where it is to run once: a reminder that somebody was promised."""
    due = event.get("nextRunAtMs", mapping(job.get("state")).get("nextRunAtMs"))
    once = mapping(job.get("schedule")).get("kind") == "at" and isinstance(due, int)
    kept = {"job": name(event.get("jobId")), "action": name(event.get("action")), "due_ms": due if once else None}
    return {key: value for key, value in kept.items() if value}


def _cron_status(event: Mapping[str, Any]) -> str:
    return status_word(event.get("status")) or status_word(event.get("completionStatus")) or "unknown"
