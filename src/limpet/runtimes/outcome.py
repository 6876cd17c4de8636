"""Success or failure: the one place that decides what a tool's answer means. Pure; it never judges free text.

Runtimes and tools say failure in many fields, and the fields contradict each other (field case F38). From the strongest
word to the weakest: blocked, an error message, a time-out, `ok`/`success` false, the tool's own status word, an exit
code, `isError`. A file that begins with "Error:" was read successfully.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet import jsonline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from limpet.model import Json

WORDS: Mapping[str, str] = {
    "ok": "succeeded",
    "success": "succeeded",
    "succeeded": "succeeded",
    "complete": "succeeded",
    "completed": "succeeded",
    "done": "succeeded",
    "finished": "succeeded",
    "accepted": "succeeded",
    "error": "failed",
    "errored": "failed",
    "failed": "failed",
    "failure": "failed",
    "running": "started",
    "started": "started",
    "pending": "started",
    "in_progress": "started",
    "backgrounded": "started",
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "aborted": "cancelled",
    "skipped": "cancelled",
    "timeout": "timed_out",
    "timed_out": "timed_out",
    "timed-out": "timed_out",
    "timedout": "timed_out",
    "blocked": "blocked",
    "denied": "blocked",
    "rejected": "blocked",
    "forbidden": "blocked",
    "interrupted": "interrupted",
}
"""The words that runtimes use for how something ended, and ours for it."""

SIGINT_EXIT = 130
"""A shell's exit code for a program stopped by SIGINT: 128 + 2."""

ASKING = re.compile(
    r"(?:^|[|;&(]\s*)(?:sudo\s+)?(?:\S*/)?(grep|egrep|fgrep|rg|ag|diff|cmp|test|\[|pgrep|which|expr)(?:\s[^|;&]*)?$"
)
"""A command line whose last program answers "no" with exit code 1 (POSIX: grep, diff, cmp, test, expr)."""

EXIT_NOTE = re.compile(r"\(?(?:Command|Process) exited with code \d+\)?|\(no output\)")
"""What OpenClaw adds to the output of a command; not the command's own words."""


class Outcome(NamedTuple):
    """How a call ended: a status, the error in words where there is one, and flags that say how sure that is."""

    status: str
    error: str = ""
    flags: tuple[str, ...] = ()


def outcome_of(said: Mapping[str, Json], params: Json = None) -> Outcome:
    """Return how a tool call ended.

    `said` is what the runtime says of the end: `result`, `error`, `isError`, `blocked`, `details` and their like;
    `params` are the call's arguments, asked only for whether exit code 1 is an answer ("no match") or a failure.
    """
    if said.get("blocked") is True:
        return Outcome("blocked", words_of(said.get("blockReason") or said.get("error")))
    layers = tuple(_layers(said))
    if stopped := _stopped(layers):
        return Outcome(stopped, _error(said, layers))
    if error := _stated(layers):
        return Outcome("failed", error)
    if any(layer.get(name) is False for layer in layers for name in ("ok", "success")):
        return Outcome("failed", _error(said, layers))
    return _by_word(said, layers, params)


def words_of(value: Json) -> str:
    """Return an error as words, from a text, or from an object with a message and perhaps a code."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        message = next((value[k] for k in ("message", "error", "detail", "reason", "code") if value.get(k)), None)
        return words_of(message) if message is not None else json.dumps(value, ensure_ascii=False)
    return "" if value is None or isinstance(value, bool) else str(value)


def status_word(value: Json) -> str:
    """Return our status for a runtime's word, "" for a word that says nothing to us."""
    return WORDS.get(value.strip().lower(), "") if isinstance(value, str) else ""


def _layers(said: Mapping[str, Json]) -> Iterator[Mapping[str, Any]]:
    """Yield every object of the answer that may carry a verdict, outermost first."""
    yield said
    result = _unfolded(said.get("result"))
    for holder in (said, result):
        if not isinstance(holder, dict):
            continue
        if holder is not said:
            yield holder
        for name in ("details", "metadata"):
            if isinstance(holder.get(name), dict):
                yield holder[name]


def _unfolded(result: Json) -> Json:
    """Open an answer that is an object printed into a string with its exit code (the codex harness does so)."""
    if isinstance(result, str) and result.startswith("{") and '"metadata"' in result:
        try:
            return jsonline.parse_text(result)
        except ValueError:
            return result
    return result


def _stopped(layers: tuple[Mapping[str, Any], ...]) -> str:
    if any(layer.get(name) is True for layer in layers for name in ("timedOut", "timed_out", "noOutputTimedOut")):
        return "timed_out"
    words = {_word(layer) for layer in layers}
    return next((word for word in ("timed_out", "blocked", "cancelled", "interrupted") if word in words), "")


def _word(layer: Mapping[str, Any]) -> str:
    return status_word(layer.get("status"))


def _stated(layers: tuple[Mapping[str, Any], ...]) -> str:
    return next((words for layer in layers if (words := words_of(layer.get("error")))), "")


def _error(said: Mapping[str, Json], layers: tuple[Mapping[str, Any], ...]) -> str:
    stated = _stated(layers)
    message = next((m for layer in layers if isinstance(m := layer.get("message"), str) and m), "")
    return stated or message or output_of(said)


def output_of(said: Mapping[str, Json]) -> str:
    """Return the last lines of what the tool printed, without OpenClaw's own remark on the exit code."""
    result = said.get("result", said)
    texts = [result] if isinstance(result, str) else []
    if isinstance(result, dict):
        blocks = result.get("content")
        texts += [blocks] if isinstance(blocks, str) else []
        texts += (
            [b["text"] for b in blocks or () if isinstance(b, dict) and isinstance(b.get("text"), str)]
            if isinstance(blocks, list)
            else []
        )
        texts += [result["output"]] if isinstance(result.get("output"), str) else []
    return EXIT_NOTE.sub("", "\n".join(texts)).strip()


def _exit_code(layers: tuple[Mapping[str, Any], ...]) -> int | None:
    for layer in layers:
        for name in ("exitCode", "exit_code"):
            value = layer.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


def _by_word(said: Mapping[str, Json], layers: tuple[Mapping[str, Any], ...], params: Json) -> Outcome:
    """Decide by the tool's own word and its exit code; only where both are silent or fine does `isError` count."""
    words = {_word(layer) for layer in layers}
    code = _exit_code(layers)
    if "started" in words and code is None:
        return Outcome("started")
    if code == SIGINT_EXIT:
        return Outcome("interrupted", _error(said, layers))
    if "failed" in words or (code and not _is_answer(code, words, said, params)):
        return Outcome("failed", _error(said, layers) or (f"exit status {code}" if code else ""))
    if any(layer.get(name) is True for layer in layers for name in ("isError", "is_error")):
        fine = code == 0 or (code is None and "succeeded" in words)
        return Outcome("succeeded", "", ("conflict",)) if fine else Outcome("failed", _error(said, layers))
    return Outcome("succeeded", "", ("empty",) if said.get("result", said) is None else ())


def _is_answer(code: int, words: set[str], said: Mapping[str, Json], params: Json) -> bool:
    """Whether this exit code answers a question ("no such line") instead of telling of a failure."""
    if code != 1 or "succeeded" not in words:
        return False
    command = params.get("command") if isinstance(params, dict) else None
    if isinstance(command, str):
        return bool(ASKING.search(command.strip()))
    return not output_of(said)
