"""Changes to JSON5 text that leave every other byte and comment alone. Not for reading it: `json5.py`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from limpet.json5 import Child, Node


def replaced(text: str, node: Node, value: Any) -> str:
    """Return the text with another value in the place of this one."""
    spread = "\n" in text[node.start : node.end]
    return text[: node.start] + _rendered(text, value, _indent(text, node.start), spread=spread) + text[node.end :]


def inserted(text: str, container: Node, name: str | None, value: Any) -> str:
    """Return the text with a member (or, without a name, an item) at the end of this object or array.

    It stands on a line of its own where the others do; comments stay where they are.
    """
    close, last = container.end - 1, container.children[-1] if container.children else None
    spread = last is None or "\n" in text[container.start : container.end]
    inner = _inner_indent(text, container)
    rendered = _rendered(text, value, inner, spread=spread)
    entry = rendered if name is None else f"{json.dumps(name, ensure_ascii=False)}: {rendered}"
    entry += "," if last and last.comma >= 0 else ""
    if not spread:
        close = len(text[:close].rstrip(" \t"))
        entry = f" {entry}"
    else:
        close, entry = _line_for(text, container, f"{inner}{entry}")
    text = text[:close] + entry + text[close:]
    if last and last.comma < 0:
        text = text[: last.node.end] + "," + text[last.node.end :]
    return text


def removed(text: str, container: Node, child: Child) -> str:
    """Return the text without this child and without the comma that only it needed."""
    if child.comma >= 0:
        return _cut(text, child.start, child.comma + 1)
    before = container.children[: container.children.index(child)]
    text = _cut(text, child.start, child.node.end)
    return text[: before[-1].comma] + text[before[-1].comma + 1 :] if before else text


def _line_for(text: str, container: Node, line: str) -> tuple[int, str]:
    """Return where a line goes that is to be the last before the closing bracket, and what to write there."""
    close, newline = container.end - 1, _newline(text)
    start = text.rfind("\n", 0, close) + 1
    if start > container.start and not text[start:close].strip():
        return start, f"{line}{newline}"
    return close, f"{newline}{line}{newline}{_indent(text, container.start)}"


def _cut(text: str, start: int, end: int) -> str:
    """Cut a span, with its whole line if nothing else stands on it, else with the space before it."""
    left = len(text[:start].rstrip(" \t"))
    right = end + len(text[end:]) - len(text[end:].lstrip(" \t"))
    if text[left - 1 : left] == "\n" and (after := re.match(r"\r?\n", text[right:])):
        return text[:left] + text[right + after.end() :]
    return text[:left] + text[end:]


def _rendered(text: str, value: Any, indent: str, *, spread: bool) -> str:
    if not spread:
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", _newline(text) + indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, at: int) -> str:
    """Return the space at the beginning of the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inner_indent(text: str, container: Node) -> str:
    for child in container.children:
        line = text[text.rfind("\n", 0, child.start) + 1 : child.start]
        if not line.strip(" \t"):
            return line
    return _indent(text, container.start) + _unit(text)


def _unit(text: str) -> str:
    """Return what one step of indentation is in this text: two spaces unless it says otherwise."""
    found = re.search(r"^[ \t]+(?=[\"'\w$])", text, re.MULTILINE)
    return found.group() if found else "  "
