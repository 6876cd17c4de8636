"""One line of JSON in and out, whatever strange things stand in it. Not for files, framing or meaning.

What `parse` gives is plain: every string is valid Unicode, every number finite, nothing nested deeper
than MAX_DEPTH. So `dump`, SQLite and every other reader can take it without a further check.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_LINE = 16 << 20
"""The longest line that is read, in bytes."""

MAX_DEPTH = 200
"""The deepest nesting that is kept; Python's own reader gives up at about 990 (field case F41)."""

CUT = f"⟦cut: nested deeper than {MAX_DEPTH} levels⟧"
"""What stands in place of a part that is nested too deep."""

_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse(raw: bytes) -> Any:
    r"""Return the value of one line.

    Bytes that are not UTF-8 become U+FFFD (`has_bad_utf8` tells). NaN, Infinity and numbers too large for a
    float, or for Python's reader of integers, stay as the string that was written. Half a surrogate pair
    becomes its escape as text, such as `\ud83d`. What is nested deeper than MAX_DEPTH is replaced by CUT. Of
    equal keys the last one wins. Raises ValueError with a sentence when the line is no JSON or too long.
    """
    if len(raw) > MAX_LINE:
        raise ValueError(f"The line has {len(raw):,} bytes; at most {MAX_LINE:,} are read.")
    return parse_text(raw.decode("utf-8", "replace"))


def parse_text(text: str) -> Any:
    """Return the value of a text that holds one JSON value; as `parse`, without its limit on length."""
    text = text.removeprefix("\ufeff").strip(" \t\r\n")
    if not text:
        raise ValueError("The line is empty.")
    try:
        value = _read(text)
    except RecursionError:
        return safe(_read(_cut(text)))
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_deep(value):
        value = _read(_cut(text))
    return safe(value) if "\\u" in text and _SURROGATE.search(text) else value


def has_bad_utf8(raw: bytes) -> bool:
    """Return whether `parse` has to replace bytes of this line with U+FFFD."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def dump(value: Any) -> bytes:
    """Return strict, compact JSON in UTF-8, keys in their order; never raises on what `parse` gave.

    A value from elsewhere may hold NaN or half a surrogate pair: it is made safe first. Raises TypeError on
    what JSON has no word for.
    """
    return _written(value, _plain)


def canonical(value: Any) -> bytes:
    """Return the one spelling with sorted keys: equal values give equal bytes, for hashing."""
    return _written(value, _sorted)


def safe(value: Any) -> Any:
    """Return the value as `parse` would have given it: numbers finite, strings valid, the nesting bounded."""
    return _safe(value, MAX_DEPTH)


def _float(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def _int(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:  # more digits than Python converts (4,300)
        return text


_reader = json.JSONDecoder(parse_constant=str, parse_float=_float, strict=False)
_patient_reader = json.JSONDecoder(parse_constant=str, parse_float=_float, parse_int=_int, strict=False)
_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True)


def _read(text: str) -> Any:
    try:
        return _reader.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"Not JSON: {error.msg} at character {error.pos + 1:,}.") from error
    except ValueError:  # an integer of more digits than Python converts
        return _patient_reader.decode(text)


def _written(value: Any, encoder: json.JSONEncoder) -> bytes:
    try:
        return encoder.encode(value).encode()
    except ValueError:  # NaN, or a surrogate that UTF-8 cannot hold
        return encoder.encode(safe(value)).encode()


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        children = (item.values() if type(item) is dict else item for item in level)
        level = [child for some in children for child in some if type(child) is dict or type(child) is list]
        if not level:
            return False
    return True


def _cut(text: str) -> str:
    """Replace each part that is nested too deep by CUT; one pass over the text."""
    parts, kept, depth = [], 0, 0
    for token in _TOKENS.finditer(text):
        sign = token[0]
        if sign in "[{":
            depth += 1
            if depth == MAX_DEPTH + 1:
                parts.append(text[kept : token.start()])
                kept = token.start()
        elif sign in "]}":
            depth -= 1
            if depth == MAX_DEPTH:
                parts.append(f'"{CUT}"')
                kept = token.end()
    if depth > MAX_DEPTH:
        raise ValueError("Not JSON: the deepest part has no end.")
    return "".join([*parts, text[kept:]])


def _safe(value: Any, room: int) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return _safe_dict(value, room)
    if isinstance(value, (list, tuple)):
        return [_safe(item, room - 1) for item in value] if room else CUT
    return value


def _safe_dict(value: dict[Any, Any], room: int) -> Any:
    if not room:
        return CUT
    return {_safe(key, room): _safe(item, room - 1) for key, item in value.items()}
