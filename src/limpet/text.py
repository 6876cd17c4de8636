"""What people read of a text: cleaned, folded to a line, out of JSON of any shape. Not for what it means."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING, Any

from limpet import jsonline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SEQUENCE = re.compile(
    r"(?:\x1b[\]PX^_][^\x07\x1b\x9c\n]*|[\x90\x98\x9d-\x9f][^\x07\x1b\x90\x98\x9c-\x9f\n]*(?=[\x07\x1b\x9c]))(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
"""Terminal sequences (ECMA-48): titles, links and clipboard; colours and cursor; the rest."""

_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_PICTURE = "\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|(?<![{_PICTURE}\u200d])\ufe0f"
    f"|(?<![{_PICTURE}])\u200d"  # joins the parts of an emoji, and hides elsewhere
    "|(?<![\u0600-\u0dff])\u200c"  # Persian and Indic spelling needs it
)
_SURROGATE = re.compile("[\ud800-\udfff]")

_IMAGE_TYPES = frozenset({"image", "input_image", "image_url", "output_image"})
_TYPE_KEYS = ("type", "mimeType", "media_type", "mediaType", "mime_type", "contentType")
_DATA_KEYS = frozenset({"data", "base64", "b64_json", "image", "blob", "image_data", "screenshot", "bytes"})
_PLACEHOLDER_KEYS = {"type", "bytes", "sha256"}
_SILENT_KEYS = frozenset(
    {
        "signature",
        "thinkingSignature",
        "textSignature",
        "thoughtSignature",
        "encrypted_content",
        "sha256",
    }
)
_MAGIC: Mapping[str, str] = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "AAAAHGZ0eXB": "image/avif",
    "PHN2Zy": "image/svg+xml",
    "JVBERi0": "application/pdf",
}
_BASE64 = re.compile(r"[A-Za-z0-9+/_=\s-]+")
_RUN = r"(?:[A-Za-z0-9+/_=-]|\\/)*+(?:\r?\n[A-Za-z0-9+/]{60,}+)*+(?:\r?\n[A-Za-z0-9+/]*+={1,2})?"
_EMBEDDED = re.compile(
    rf"data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[\w=.-]+)*;base64,(?P<data>{_RUN})"
    rf"|(?<![A-Za-z0-9+/])(?P<bare>(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi0)(?=[A-Za-z0-9+/\\]{{90}}){_RUN})"
)
_EMBEDDED_SIGNS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0")
"""One of these stands in every text of which `_EMBEDDED` takes something, or else `base64,`."""

_BARE_CHARS = 256
"""From this length on, base64 under a key such as `data` is taken for a file."""


def clean(text: str, newlines: bool = True) -> str:
    """Return the text as a terminal would print it on paper: no sequences, no control or hidden characters.

    Backspaces are applied; every line break becomes a newline, or a space where `newlines` is false; tabs
    stay. What colour codes split is whole again (field case F31). Takes time in proportion to the text.
    """
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _cleaned(text)
    return text if newlines else text.replace("\n", " ")


def one_line(text: str, limit: int) -> str:
    """Return the text on one line of at most `limit` characters, white space folded; `…` shows a cut."""
    text = text.lstrip()
    head = text[: 8 * limit + 4096]
    folded = " ".join(clean(head, newlines=False).split())
    if len(folded) <= limit and len(head) == len(text):
        return folded
    end = min(limit - 1, len(folded))
    while 0 < end < len(folded) and _clings(folded[end]):
        end -= 1
    return folded[: max(end, 0)].rstrip() + "…"


def plain(value: Any) -> str:
    """Return all human text in a tool's result or a message's content, of whatever shape (field case F35).

    Parts stand on lines of their own, in their order, each once. Blocks that were printed as JSON into a
    string are opened. Images are named, not shown. Numbers and truth values count as text, except as an
    object's field.
    """
    return "\n".join(dict.fromkeys(part for part in _parts(value) if part))


def without_images(value: Any) -> tuple[Any, int]:
    """Return the value without the bytes of images and other base64 files, and how many were taken out.

    Each becomes `{"type": "image/png", "bytes": 1234, "sha256": "<of the decoded bytes>"}`, or the same in
    words where it stood inside a longer text. An untouched value comes back as it is, not copied (field case
    F33).
    """
    if not _may_hold_file(value):
        return value, 0
    taken: list[str] = []
    return _lighter(value, "", "", taken), len(taken)


def _cleaned(text: str) -> str:
    text = _SEQUENCE.sub("", text)
    text = _BREAKS.sub("\n", text)
    if "\b" in text:
        text = _backspaced(text)
    return _SURROGATE.sub("\ufffd", _INVISIBLE.sub("", text))


def _backspaced(text: str) -> str:
    kept: list[str] = []
    for char in text:
        if char != "\b":
            kept.append(char)
        elif kept and kept[-1] != "\n":
            kept.pop()
    return "".join(kept)


def _clings(char: str) -> bool:
    return char in "\u200d\ufe0f" or unicodedata.combining(char) != 0 or "\U0001f3fb" <= char <= "\U0001f3ff"


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _parts_of_string(value)
    elif isinstance(value, dict):
        yield from _parts_of_object(value)
    elif isinstance(value, list):
        yield from chain.from_iterable(_parts(item) for item in value)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is not None:
        yield str(value)


def _parts_of_object(value: Mapping[str, Any]) -> Iterator[str]:
    kind = value.get("type")
    if isinstance(kind, str) and (kind in _IMAGE_TYPES or value.keys() == _PLACEHOLDER_KEYS):
        yield "[image]"
    for key, item in value.items():
        if not _is_wordless(key, item):
            yield from _parts(item)


def _is_wordless(key: str, item: Any) -> bool:
    if isinstance(item, str):
        return key in _SILENT_KEYS or (key in _TYPE_KEYS and " " not in item) or _is_file(key, item)
    return not isinstance(item, (dict, list))


def _parts_of_string(value: str) -> Iterator[str]:
    if value[:1] in ("[", "{") and (opened := _blocks_in(value)) is not None:
        yield from _parts(opened)
    elif "base64," in value:
        yield _EMBEDDED.sub("[image]", value)
    else:
        yield value


def _blocks_in(value: str) -> Any:
    """Open a string that is a JSON list of content blocks, or an object with one; None for any other."""
    if '"content"' not in value and '"type"' not in value:
        return None
    try:
        opened = jsonline.parse_text(value)
    except ValueError:
        return None
    content = opened.get("content") if isinstance(opened, dict) else opened
    blocks = isinstance(content, list) and any(isinstance(item, dict) and "type" in item for item in content)
    return opened if blocks else None


def _is_file(key: str, item: Any) -> bool:
    if not isinstance(item, str) or key not in _DATA_KEYS or item.startswith("data:"):
        return False
    return _sniffed(item) != "" or (len(item) >= _BARE_CHARS and _BASE64.fullmatch(item) is not None)


def _sniffed(data: str) -> str:
    """Return the type that the first bytes speak of, or "". Short data is no file."""
    if len(data) < 24 or _BASE64.fullmatch(data) is None:
        return ""
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "")


def _may_hold_file(value: Any) -> bool:
    """Return whether a closer look is worth it: few records hold a file, and this look costs a tenth of the other."""
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is str:
            if len(item) >= 24 and (
                "base64," in item or (len(item) >= 100 and any(s in item for s in _EMBEDDED_SIGNS))
            ):
                return True
        elif type(item) is dict:
            if not _DATA_KEYS.isdisjoint(item):
                return True
            stack.extend(item.values())
        elif type(item) is list:
            stack.extend(item)
    return False


def _lighter(value: Any, key: str, kind: str, taken: list[str]) -> Any:
    """`kind` is the media type that the enclosing object names, "" if none."""
    if isinstance(value, str):
        return _lighter_string(value, key, kind, taken)
    if isinstance(value, dict):
        named = next((value[k] for k in _TYPE_KEYS[1:] if isinstance(value.get(k), str)), "")
        lighter = {k: _lighter(item, k, named, taken) for k, item in value.items()}
        return value if all(lighter[k] is value[k] for k in value) else lighter
    if isinstance(value, list):
        items = [_lighter(item, key, "", taken) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _lighter_string(value: str, key: str, kind: str, taken: list[str]) -> Any:
    if key in _DATA_KEYS and (_is_file(key, value) or (kind and len(value) > 8 and _BASE64.fullmatch(value))):
        return _placeholder(value, kind or _sniffed(value) or "application/octet-stream", taken)
    if len(value) < 24 or ("base64," not in value and len(value) < 100):
        return value
    whole = _EMBEDDED.fullmatch(value)
    if whole:
        return _placeholder(whole["data"] or whole["bare"], whole["type"] or _sniffed(value), taken)
    return _EMBEDDED.sub(lambda found: _in_words(found, taken), value)


def _in_words(found: re.Match[str], taken: list[str]) -> str:
    data = found["data"] if found["data"] is not None else found["bare"]
    said = _placeholder(data, found["type"] or _sniffed(data[:64]) or "image", taken)
    return f"[{said['type']}, {said['bytes']} bytes, sha256 {said['sha256']}]"


def _placeholder(data: str, kind: str, taken: list[str]) -> dict[str, Any]:
    content = _decoded(data)
    digest = hashlib.sha256(content).hexdigest()
    taken.append(digest)
    return {"type": kind, "bytes": len(content), "sha256": digest}


def _decoded(data: str) -> bytes:
    """Return the bytes of base64 of either alphabet, also where its end is cut off."""
    letters = re.sub(r"[\s\\=]+", "", data).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(letters[: len(letters) - (len(letters) % 4 == 1)] + "=" * (-len(letters) % 4 % 3))
    except binascii.Error:
        return data.encode()


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return how many there are of something, in words: `1 note`, `2 notes`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
