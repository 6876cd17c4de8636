"""Secrets in odd places: in no file that Limpet keeps."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import zstandard

import planted
from lab import NOON, Lab, Line, call, hook, text_result
from planted import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def test_no_secret_is_kept_in_the_names_of_sources_and_places(lab: Lab):
    """A token as a line's source, as a producer's folder and as a file's name is in no file that Limpet keeps."""
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    lab.take(
        [{"id": "1", "source": token, "hook": "limpet_add", "event": {"type": "note"}}, b"no json\n"], producer=token
    )
    lab.file(f"old/{token}.jsonl", [{"id": "2", "hook": "limpet_add", "event": {"type": "note"}}, b"no json\n"])
    lab.imported(lab.folder / "old")
    kept = [path for path in lab.state.rglob("*") if path.is_file() and "spool" not in path.parts]
    assert len(lab.quarantined()) == 2
    assert [path for path in kept if token.encode() in path.read_bytes()] == []


def lines_with(made: list[tuple[str, str, Any]]) -> Iterator[Line | bytes]:
    """Yield what an agent's day would say with these secrets in it: calls, messages, errors, names, torn lines."""
    for n, (_, _, value) in enumerate(made):
        said = json.dumps(value, ensure_ascii=n % 2 == 0)
        if n % 4 == 0:
            yield call(f"c-{n}", n, params=value, result=text_result(said))
        elif n % 4 == 1:
            yield call(f"c-{n}", n, params={"n": n}, error=said, result={"details": {"deep": [value, {"again": said}]}})
        elif n % 4 == 2:
            message = {"role": "user", "content": [{"type": "text", "text": said}], "timestamp": NOON + n}
            yield hook("before_message_write", {"message": message}, n)
        else:
            yield hook("some_new_hook", {"payload": value}, n)
            yield b'{"hook": "after_tool_call", "event": ' + said.encode() + b', "result": {"torn off he\n'


def windows(secrets: list[str]) -> set[bytes]:
    """Return every twelve bytes that stand together in one of these secrets; all of one that is shorter."""
    raw = [secret.encode() for secret in secrets]
    return {one[at : at + 12] for one in raw for at in range(max(1, len(one) - 11))}


def told_in(path: Path, sought: set[bytes]) -> set[bytes]:
    """Return which of these bytes stand in a file, in whatever is compressed in it, and with escapes undone."""
    return told_by(unpacked(path), sought)


def told_by(content: bytes, sought: set[bytes]) -> set[bytes]:
    """Return which of these bytes stand in a text, also with escapes undone."""
    readable = content.replace(b"\\\\", b"\\").replace(b"\\n", b"\n").replace(b"\\u0000", b"").replace(b'\\"', b'"')
    found = set()
    for text in (content, readable):
        for size in {len(one) for one in sought}:
            found |= sought & {text[at : at + size] for at in range(len(text) - size + 1)}
    return found


def test_of_a_thousand_secrets_no_byte_is_in_any_file_and_of_a_thousand_look_alikes_every_byte_is(lab: Lab):
    """All kinds, in all places, whole, glued and cut off: ledger, events, index, quarantine, log, note."""
    made = planted.plantings(11)
    rng = Random(12)
    harmless = [value for _ in range(30) for value in planted.look_alikes(rng).values()]
    assert len(made) >= 1000
    assert len(harmless) >= 1000
    (lab.state / "workspace").mkdir(parents=True)
    lab.take(lines_with(made))
    lab.take(
        (call(f"h-{n}", 5000 + n, params={"said": value}) for n, value in enumerate(harmless)), producer="harmless"
    )
    assert lab.limpet("note", "--date", "2026-06-01", "--now", "2026-06-02T09:00:00+00:00").status == 0
    sought = windows([secret for _, secret, _ in made])
    kept = [path for path in lab.state.rglob("*") if path.is_file()]
    control = lab.folder / "control"
    control.write_bytes(b"x" * 99 + zstandard.compress(f"it is {made[0][1]} here".encode()))
    assert told_in(control, sought) != set()
    assert len(lab.quarantined()) > 200
    ledger = "\n".join(json.dumps(record.body, ensure_ascii=False) for record in lab.records())
    assert told_by(ledger.encode("utf-8", "replace"), sought) == set()
    assert {path.name: found for path in kept if (found := told_in(path, sought))} == {}
    in_index = {
        word for word in words_of(lab) if any(word in secret.lower() for _, secret, _ in made if len(word) >= 12)
    }
    assert in_index == set()
    held = {
        record.body["event"]["toolCallId"]: record.body["event"]
        for record in lab.records()
        if record.stream == "harmless"
    }
    assert [held[f"h-{n}"]["params"]["said"] for n in range(len(harmless))] == harmless


def words_of(lab: Lab) -> set[str]:
    """Return every word that the text index holds."""
    with lab.store() as store:
        return {word for word, _, _ in store.index.words()}
