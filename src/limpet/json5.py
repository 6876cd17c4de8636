"""JSON5 (https://spec.json5.org) as a tree that knows where everything stands. Not for changing it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from limpet.errors import BadInput

_SPACE = re.compile(r"(?:[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*(?s:.*?)\*/)*")
_STRING = re.compile(r"'(?:[^'\\\n\r]|\\(?:\r\n|(?s:.)))*'|\"(?:[^\"\\\n\r]|\\(?:\r\n|(?s:.)))*\"")
_NUMBER = re.compile(r"[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]++|(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+)(?![\w$.])")
_NAME = re.compile(r"(?!\d)(?:[\w$]|\\u[0-9a-fA-F]{4})+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\n\r\u2028\u2029])|((?s:.)))")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_WORDS = {"true": True, "false": False, "null": None}
_CLOSING = {"{": "}", "[": "]"}
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class Child:
    """A member or an item: where it starts (a member with its key), its value, its comma (-1: none)."""

    name: str | int
    start: int
    node: Node
    comma: int


@dataclass(frozen=True, slots=True)
class Node:
    """A value: text[start:end], what it means in Python's terms, its children if it is an object or array."""

    start: int
    end: int
    value: Any
    children: tuple[Child, ...] = ()

    def child(self, name: str | int) -> Node | None:
        """Return the value of that name; the last one if it is said twice, as JavaScript has it."""
        return next((child.node for child in reversed(self.children) if child.name == name), None)


def parse(text: str) -> Node:
    """Read a whole document; raises BadInput naming the line and column where it stops making sense."""
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def document(self) -> Node:
        self._space()
        node = self._value()
        self._space()
        if self.at < len(self.text):
            raise self._error("something follows the end")
        return node

    def _value(self) -> Node:
        if self._peek() in _CLOSING:
            return self._container()
        start = self.at
        if found := self._take(_STRING):
            return Node(start, self.at, _unescaped(found[1:-1]))
        if found := self._take(_NUMBER):
            return Node(start, self.at, self._number(found))
        if (found := self._take(_NAME)) in _WORDS:
            return Node(start, self.at, _WORDS[found])
        self.at = start
        raise self._error("a value is missing")

    def _container(self) -> Node:
        start, close = self.at, _CLOSING[self.text[self.at]]
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(f"nested deeper than {_DEEPEST} levels")
        self._step()
        children: list[Child] = []
        while self._peek() != close:
            if children and children[-1].comma < 0:
                raise self._error("a comma is missing")
            children.append(self._child(len(children) if close == "]" else None))
        self.at += 1
        self.depth -= 1
        return Node(start, self.at, _meaning(children, close), tuple(children))

    def _child(self, index: int | None) -> Child:
        start = self.at
        name = self._key() if index is None else index
        node = self._value()
        self._space()
        comma = self.at if self._peek() == "," else -1
        if comma >= 0:
            self._step()
        return Child(name, start, node, comma)

    def _key(self) -> str:
        found = self._take(_STRING)
        name = _unescaped(found[1:-1]) if found else _unescaped(self._take(_NAME))
        if not found and not name:
            raise self._error("a key is missing")
        self._space()
        if self._peek() != ":":
            raise self._error("a colon is missing")
        self._step()
        return name

    def _number(self, found: str) -> float | int:
        try:
            return _number(found)
        except ValueError as error:  # an integer of more digits than Python converts
            raise self._error("a number has too many digits") from error

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found.group() if found else ""

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _step(self) -> None:
        self.at += 1
        self._space()

    def _space(self) -> None:
        self._take(_SPACE)

    def _error(self, what: str) -> BadInput:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        return BadInput(f"{what} at line {line}, column {column}")


def _meaning(children: list[Child], close: str) -> Any:
    if close == "]":
        return [child.node.value for child in children]
    return {child.name: child.node.value for child in children}


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(_character, text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(match: re.Match[str]) -> str:
    unicode, byte, line_end, other = match.groups()
    if unicode or byte:
        return chr(int(unicode or byte, 16))
    return "" if line_end else _SHORT.get(other, other)


def _number(text: str) -> float | int:
    plain = text.lstrip("+-")
    sign = -1 if text.startswith("-") else 1
    if plain[:2] in ("0x", "0X"):
        return sign * int(plain, 16)
    return sign * (int(plain) if plain.isdigit() else float(plain.replace("Infinity", "inf")))
