"""The logs of `llm` as one of the sides: filled through its own library in its own venv, asked with `llm logs`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers.asking import Answer, told
from benchmarks.peers.day import DATE, FAILED, SESSION, WORD, key
from benchmarks.telling import iso
from benchmarks.traffic import COMMON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.peers.day import Day

FILLING = Path(__file__).parent / "llm_filling.py"


@dataclass(frozen=True)
class LlmLogs:
    """A log database of llm; `turns` says of each of its rows which messages of the day are in it."""

    programs: Path
    database: Path
    turns: Mapping[str, Mapping[str, str]]
    day: Day
    name: str = "llm logs"
    ways: Mapping[str, str] = field(default_factory=lambda: {
        FAILED: "llm logs -n 0 --tools --json, the rows with an exception picked out afterwards",
        WORD: "llm logs -n 0 -q WORD --json",
        SESSION: "llm logs --cid ID --json",
    })  # fmt: skip

    def ask(self, question: str) -> Answer:
        """Answer with its command line, cold."""
        if question == FAILED:
            rows, seconds = self._rows("-n", "0", "--tools")
            return Answer(frozenset(self._failed(rows)), seconds, "no filter for failure or time: every row is printed")
        if question == WORD:
            rows, seconds = self._rows("-n", "0", "-q", COMMON)
            return Answer(frozenset(self._with_word(rows)), seconds, "arguments and results of tools are not searched")
        rows, seconds = self._rows("--cid", self.day.session)
        return Answer(frozenset(self._all(rows)), seconds)

    def size(self) -> int:
        """Return the bytes of the database."""
        return self.database.stat().st_size

    def _rows(self, *arguments: str) -> tuple[list[dict[str, Any]], float]:
        command = [str(self.programs / "llm"), "logs", "list", "-d", str(self.database), *arguments, "--json"]
        answered = told(command, environment(self.database.parent))
        return json.loads(answered.out), answered.seconds

    def _failed(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        # A row tells the results of the calls before it, and only its own time: each call's is looked up by its id.
        times = {key(one): iso(one.at_ms) for one in self.day.happenings}
        for row in rows:
            for result in row["tool_results"]:
                if result["exception"] and times[result["tool_call_id"]].startswith(DATE):
                    yield result["tool_call_id"]

    def _with_word(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        for row in rows:
            turn = self.turns[row["id"]]
            yield from [turn["asked"]] if COMMON in (row["prompt"] or "") else []
            yield from [turn["own"]] if COMMON in (row["response"] or "") else []
            yield from (result["tool_call_id"] for result in row["tool_results"] if COMMON in result["output"])

    def _all(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        for row in rows:
            turn = self.turns[row["id"]]
            yield from [turn["asked"]] if row["prompt"] else []
            yield from [turn["own"]] if row["response"] else []
            yield from (call["tool_call_id"] for call in row["tool_calls"])


def filled(programs: Path, day: Day) -> LlmLogs:
    """Return a log database with the day in it: made once, since llm goes through the conversation at each turn."""

    def fill(folder: Path) -> None:
        lines = (json.dumps({**asdict(one), "key": key(one), "at": iso(one.at_ms)}) for one in day.happenings)
        (folder / "events.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        told([str(programs / "python"), str(FILLING), str(folder)], environment(folder), timeout_s=600)
        (folder / "events.jsonl").unlink()

    folder = day.kept("llm", fill)
    turns = json.loads((folder / "turns.json").read_text("utf-8"))
    return LlmLogs(programs, folder / "logs.db", turns, day)


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which nothing of the user is touched."""
    return {"HOME": str(home), "LLM_USER_PATH": str(home), "PATH": "/usr/bin:/bin", "TZ": "UTC", "LANG": "C.UTF-8"}
