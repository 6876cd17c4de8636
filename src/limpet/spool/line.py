"""One line of the spool or of an imported file, and the record that it is. No files here."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from limpet import jsonline
from limpet.errors import BadInput
from limpet.model import Record

DEFAULT_SOURCE = "openclaw.hooks"
"""Whose a line is that does not say it: the OpenClaw plugin's."""

INVALID_UTF8 = "invalid_utf8"
"""The flag of a line in which bytes had to be replaced (field case F30)."""

LONGEST_ID = 200
HEX = re.compile(r"[0-9a-f]{32}")


def record_of(raw: bytes, stream: str, seq: int, arrived_ms: int, repeat: int = 0) -> Record:
    """Return the record that a line holds.

    `stream` and `seq` say where it stood, for a line that does not say it itself; `repeat` is how many equal lines
    came before it in the same file, so that a line without an id gets one from its bytes and that number: importing
    twice adds nothing and real repeats stay. Raises BadInput, with the reason, for anything that is no such line.
    """
    try:
        body = jsonline.parse(raw)
    except ValueError as error:
        raise BadInput(f"not JSON: {error}") from error
    _check(body)
    if jsonline.has_bad_utf8(raw):
        body["flags"] = [INVALID_UTF8]
    return Record(
        id=_id(body, raw, repeat),
        source=_text(body.get("source")) or DEFAULT_SOURCE,
        stream=_text(body.get("producer")) or stream,
        seq=_number(body.get("seq")) or seq,
        kind=body["hook"],
        body=body,
        arrived_ms=arrived_ms,
    )


def _check(body: Any) -> None:
    if not isinstance(body, dict):
        raise BadInput(f"a line must be a JSON object, this is {_kind(body)}")
    if not isinstance(body.get("hook"), str) or not body["hook"]:
        raise BadInput('a line needs "hook", the name of what happened')
    for name in ("ctx", "event"):
        if not isinstance(body.get(name), dict | None):
            raise BadInput(f'"{name}" must be an object, this is {_kind(body[name])}')
    if not isinstance(body.get("ts"), int | float | str | None):
        raise BadInput(f'"ts" must be a time, this is {_kind(body["ts"])}')


def _kind(value: Any) -> str:
    return {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "true or false",
        type(None): "null",
    }.get(type(value), "a number")


def _id(body: dict[str, Any], raw: bytes, repeat: int) -> str:
    given = body.get("id")
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST_ID:
        return hashlib.sha256(b"%d\n" % repeat + raw.strip()).hexdigest()[:32]
    digits = given.replace("-", "").lower()
    if HEX.fullmatch(digits):
        return digits
    return hashlib.sha256(given.encode()).hexdigest()[:32]


def _text(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= LONGEST_ID else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 62 else 0
