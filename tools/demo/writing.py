"""A made-up day in the lines that OpenClaw's plugin would have written: the shapes are those of real hook payloads.

Every time is milliseconds since the day's midnight. What happens on that day stands in plot.py.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

PROVIDER, MODEL = "example", "writer-2"
VERSIONS = {"plugin": "0.1.0", "openclaw": "2026.9.6", "node": "v24.21.0"}
WORKSPACE = "~/.openclaw/workspace"


class Day:
    """The lines of the day, in the order in which they were written; `now` is milliseconds since midnight."""

    def __init__(self) -> None:
        """Begin before the gateway is switched on."""
        self.lines: list[dict[str, Any]] = []
        self.now = 0
        self.life = 0
        self.written = 0

    def clock(self, time: str) -> None:
        """Go on to that time of day."""
        hours, minutes, seconds = (int(part) for part in f"{time}:00".split(":")[:3])
        at = ((hours * 60 + minutes) * 60 + seconds) * 1000
        if at < self.now:
            raise ValueError(f"{time} is in the past")
        self.now = at

    def after(self, ms: int) -> int:
        """Let that many milliseconds go by."""
        self.now += ms
        return self.now

    def say(self, hook: str, ctx: dict[str, Any], event: dict[str, Any]) -> None:
        """Write one line."""
        self.lines.append({"life": self.life, "at": self.now, "hook": hook, "ctx": ctx, "event": event})
        self.written += 1

    def id(self, what: str) -> str:
        """Return an id that is the same each time this file is made."""
        return str(uuid.UUID(hashlib.sha256(f"{what} {len(self.lines)}".encode()).hexdigest()[:32], version=4))

    def gateway_starts(self) -> None:
        """Begin a life of the gateway and its plugin."""
        self.life += 1
        self.written = 0
        self._own("limpet_start")
        self.after(1443)
        self.say("gateway_start", {"port": 18789, "workspaceDir": WORKSPACE}, {"port": 18789})

    def gateway_stops(self, *sessions: Session) -> None:
        """End a life as a service manager does it."""
        self.say("gateway_stop", {"port": 18789}, {"reason": "gateway stopping"})
        for session in sessions:
            self.after(6)
            session.ends("shutdown")
        self.after(12)
        self._own("limpet_stop")

    def _own(self, hook: str) -> None:
        event = {"pid": 4000 + self.life, **VERSIONS, "written": self.written, "dropped": 0}
        self.say(hook, {}, event)

    def cron(self, name: str, expr: str, output: str, ms: int, error: str = "") -> None:
        """Run a command job."""
        job_id = str(uuid.UUID(hashlib.sha256(name.encode()).hexdigest()[:32], version=4))
        began = self.now
        job = {
            "id": job_id, "name": name, "enabled": True, "schedule": {"kind": "cron", "expr": expr},
            "sessionTarget": "isolated", "wakeMode": "now",
            "payload": {"kind": "command", "argv": ["sh", "-lc", f"./jobs/{name}.sh"]},
            "createdAtMs": -86_400_000 * 40, "updatedAtMs": began,
        }  # fmt: skip
        ran = {"jobId": job_id, "sessionTarget": "isolated", "runAtMs": began}
        self.say("cron_changed", {}, {"action": "started", **ran, "job": {**job, "state": {"runningAtMs": began}}})
        self.after(ms)
        said = (
            {"status": "error", "completionStatus": "failed", "error": error}
            if error
            else {"status": "ok", "completionStatus": "succeeded"}
        )
        state = {"lastRunAtMs": began, "lastRunStatus": said["status"], "lastDurationMs": ms}
        more = {
            "durationMs": ms,
            **said,
            "deliveryStatus": "not-requested",
            "summary": output,
            "nextRunAtMs": began + 86_400_000,
        }
        self.say("cron_changed", {}, {"action": "finished", **ran, **more, "job": {**job, "state": state}})


class Session:
    """A conversation with an agent."""

    def __init__(self, day: Day, agent: str, rest: str = "main", trigger: str = "user") -> None:
        """Name the agent and what follows it in the session's key."""
        self.day = day
        self.agent = agent
        self.key = f"agent:{agent}:{rest}"
        self.session_id = str(uuid.UUID(hashlib.sha256(self.key.encode()).hexdigest()[:32], version=4))
        self.trigger = trigger
        self.messages = 0
        self.run = ""
        self.model_calls = 0

    @property
    def ids(self) -> dict[str, str]:
        """The names that most hooks carry."""
        return {"agentId": self.agent, "sessionKey": self.key, "sessionId": self.session_id}

    def starts(self, **more: str) -> None:
        """Begin."""
        event = {"sessionId": self.session_id, "sessionKey": self.key, **more}
        self.day.say("session_start", dict(self.ids), event)

    def ends(self, reason: str) -> None:
        """End, for that reason."""
        event = {"sessionId": self.session_id, "sessionKey": self.key, "messageCount": self.messages, "reason": reason}
        self.day.say("session_end", dict(self.ids), event)

    def asks(self, words: str, channel: str = "", *, owner: bool = True) -> None:
        """Let the user say something: it begins a run."""
        day = self.day
        self.run = day.id("run")
        self.model_calls = 0
        mark = {"__openclaw": {"senderIsOwner": True}} if owner else {}
        message = {"role": "user", "content": words, "timestamp": day.now, "idempotencyKey": f"{self.run}:user", **mark}
        self.writes(message)
        if channel:
            day.after(4)
            sender = {
                "channelId": channel,
                "conversationId": "chat-77",
                "sessionKey": self.key,
                "messageId": self.run,
                "senderId": "user-77",
            }
            said = {
                "from": "user-77",
                "content": words,
                "messageId": self.run,
                "senderId": "user-77",
                "sessionKey": self.key,
            }
            day.say("message_received", sender, {**said, "metadata": {"provider": channel, "senderIsOwner": owner}})
        day.after(310)

    def writes(self, message: dict[str, Any]) -> None:
        """Write a message to the transcript."""
        self.messages += 1
        seen = {"sessionIdSeen": self.session_id} | ({} if message["role"] == "user" else {"runIdSeen": self.run})
        self.day.say(
            "before_message_write", {"agentId": self.agent, "sessionKey": self.key, **seen}, {"message": message}
        )

    def thinks(self, ms: int, error: str = "", run: str = "") -> None:
        """Call the model."""
        self.model_calls += 1
        run = run or self.run
        names = {"runId": run, "sessionKey": self.key, "sessionId": self.session_id}
        model = {"provider": PROVIDER, "model": MODEL, "api": "openai-completions", "transport": "auto"}
        call = {**names, "callId": f"{run}:model:{self.model_calls}", **model}
        ctx = {**names, "modelProviderId": PROVIDER, "modelId": MODEL, "contextTokenBudget": 128000}
        self.day.say("model_call_started", ctx, call)
        self.day.after(ms)
        over = {"outcome": "error", "errorCategory": error} if error else {"outcome": "completed"}
        self.day.say(
            "model_call_ended",
            ctx,
            {**call, "durationMs": ms, **over, "requestPayloadBytes": 41_200 + 900 * self.messages},
        )
        self.day.after(2)

    def answers(self, words: str, *calls: tuple[str, str, dict[str, Any]], ms: int = 1900) -> None:
        """Think, and say something or ask for tools: (id, tool, arguments)."""
        self.thinks(ms)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": words}] if words else []
        blocks += [{"type": "toolCall", "id": call, "name": tool, "arguments": args} for call, tool, args in calls]
        usage = {
            "input": 9_000 + 310 * self.messages,
            "output": 12 + len(words) // 4,
            "totalTokens": 9_012 + 310 * self.messages + len(words) // 4,
        }
        self.writes(
            {
                "role": "assistant", "content": blocks, "api": "openai-completions", "provider": PROVIDER,
                "model": MODEL, "usage": usage,
                "stopReason": "toolUse" if calls else "stop", "timestamp": self.day.now - ms,
                "responseId": f"resp-{self.day.id('response')[:12]}",
            }
        )  # fmt: skip
        self.day.after(9)

    def begins(self, call: str, tool: str, args: dict[str, Any]) -> None:
        """Begin a tool call."""
        ctx = {
            "toolName": tool,
            **self.ids,
            "runId": self.run,
            "toolCallId": call,
            "requester": {"senderIsOwner": True},
        }
        self.day.say("before_tool_call", ctx, {"toolName": tool, "params": args, "runId": self.run, "toolCallId": call})

    def finishes(
        self, call: str, tool: str, args: dict[str, Any], result: dict[str, Any], ms: int, error: str = ""
    ) -> None:
        """End a tool call and write its result to the transcript."""
        self.day.after(ms)
        ctx = {"toolName": tool, **self.ids, "runId": self.run, "toolCallId": call}
        said = {
            "toolName": tool,
            "params": args,
            "runId": self.run,
            "toolCallId": call,
            "result": result,
            "durationMs": ms,
        }
        self.day.say("after_tool_call", ctx, {**said, "error": error} if error else said)
        self.day.after(2)
        answer = {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": tool,
            "content": result["content"],
            "isError": bool(error),
        }
        self.writes({**answer, "details": result.get("details", {}), "timestamp": self.day.now})
        self.day.after(11)

    def uses(self, tool: str, args: dict[str, Any], text: str, ms: int = 420, error: str = "", **details: Any) -> None:
        """Think, call one tool and get its answer."""
        call = f"call_{self.day.id('call')[:16].replace('-', '')}"
        self.answers("", (call, tool, args))
        self.begins(call, tool, args)
        result = {
            "content": [{"type": "text", "text": text}],
            "details": details or {"status": "failed" if error else "completed"},
        }
        self.finishes(call, tool, args, result, ms, error)

    def runs(self, command: str, output: str, ms: int = 420, code: int = 0, **more: Any) -> None:
        """Run a command in a shell."""
        details = {
            "status": "completed", "exitCode": code, "exitSignal": None, "exitReason": "exit", "durationMs": ms - 30,
            "aggregated": output, "noOutputTimedOut": False, "cwd": WORKSPACE, **more,
        }  # fmt: skip
        shown = output if code == 0 else f"{output}\n\n(Command exited with code {code})"
        self.uses("exec", {"command": command}, shown, ms, **details)

    def closes(self, words: str, channel: str = "", *, fails_first: str = "") -> None:
        """Say the last word of a run and deliver it."""
        self.answers(words)
        self.over()
        if channel and fails_first:
            self._delivers(words, channel, fails_first)
            self.day.after(5200)
        if channel:
            self._delivers(words, channel)
        self.day.after(40)

    def over(self) -> None:
        """End the run."""
        ctx = {
            "runId": self.run,
            **self.ids,
            "workspaceDir": WORKSPACE,
            "modelProviderId": PROVIDER,
            "modelId": MODEL,
            "trigger": self.trigger,
        }
        last = {"role": "assistant", "stopReason": "stop"}
        began = next(
            line["at"] for line in reversed(self.day.lines) if line["event"].get("callId") == f"{self.run}:model:1"
        )
        said = {"success": True, "durationMs": self.day.now - began, "runId": self.run}
        self.day.say("agent_end", ctx, {**said, "messageCount": self.messages, "lastMessage": last})
        self.day.after(15)

    def _delivers(self, words: str, channel: str, error: str = "") -> None:
        ctx = {"channelId": channel, "conversationId": "chat-77", "sessionKey": self.key, "runId": self.run}
        sent = {"to": "chat-77", "content": words, "success": not error, "sessionKey": self.key, "runId": self.run}
        said = {"error": error} if error else {"messageId": f"{channel}-{self.day.id('sent')[:8]}"}
        self.day.say("message_sent", ctx, {**sent, **said})
