"""Writes a day into llm's log database with llm's own library; runs in llm's venv, so it imports nothing of ours."""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import llm
import sqlite_utils
from llm.models import Conversation, Response


class Scripted(llm.Model):  # type: ignore[misc]
    """A model that is never asked: what it answered is known."""

    model_id = "scripted"

    def execute(self, *_: Any, **__: Any) -> None:
        """Do nothing."""


MODEL = Scripted()


class Talk:
    """One session as llm keeps it: a conversation in which each turn carries everything before it."""

    def __init__(self, session: str) -> None:
        self.conversation = Conversation(model=MODEL, id=session)
        self.before: list[dict[str, Any]] = []
        self.asked = ""

    def user(self, event: dict[str, Any]) -> None:
        """Hear the user: llm logs that with the answer."""
        self.before.append({"role": "user", "parts": [{"type": "text", "text": event["text"]}]})
        self.asked = event["key"]

    def turn(self, event: dict[str, Any], store: sqlite_utils.Database) -> tuple[str, dict[str, str]]:
        """Log an answer of the model, a text or a tool call; return the row's id, and what is in it."""
        part: dict[str, Any] = {"type": "text", "text": event["text"]}
        if event["tool"]:
            part = {
                "type": "tool_call",
                "name": event["tool"],
                "arguments": event["params"],
                "tool_call_id": event["call"],
            }
        own = {"role": "assistant", "parts": [part]}
        name = f"{event['at_ms']:013}"
        told = {"model": "scripted", "id": name, "prompt": {"messages": self.before}, "messages": [own]}
        response = Response.from_dict(told, model=MODEL)
        response.conversation = self.conversation
        response._start = response._end = time.monotonic()  # noqa: SLF001 (llm restores no times)
        response._start_utcnow = datetime.fromisoformat(event["at"])  # noqa: SLF001
        response.log_to_db(store)
        self.before.append(own)
        if event["tool"]:
            self._result(event)
        held, self.asked = {"own": event["key"], "asked": self.asked}, ""
        return name, held

    def _result(self, event: dict[str, Any]) -> None:
        result = {"type": "tool_result", "name": event["tool"], "output": event["text"], "tool_call_id": event["call"]}
        if event["error"]:
            result["exception"] = event["error"]
        self.before.append({"role": "tool", "parts": [result]})


def main(folder: Path) -> None:
    """Write `logs.db` and `turns.json` from `events.jsonl`."""
    store = sqlite_utils.Database(str(folder / "logs.db"))
    store.execute("PRAGMA synchronous = OFF")
    talks: dict[str, Talk] = {}
    turns: dict[str, dict[str, str]] = {}
    for line in (folder / "events.jsonl").read_text("utf-8").splitlines():
        event = json.loads(line)
        talk = talks.setdefault(event["session"], Talk(event["session"]))
        if event["role"] == "user":
            talk.user(event)
        else:
            turns.update([talk.turn(event, store)])
    (folder / "turns.json").write_text(json.dumps(turns), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
