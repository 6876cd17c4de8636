"""OpenClaw's configuration as written: one file, or several by `$include`. Not for knowing what to write.

A section that stands in a file of its own (`plugins: {$include: "./plugins.json5"}`) is changed there, as
OpenClaw itself does; elsewhere a key is added beside the `$include`, and OpenClaw merges it over what is
included (arrays are joined).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import json5
from limpet.errors import BadInput
from limpet.runtimes.openclaw import editing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_DEEPEST_INCLUDE = 10
_MOST_INCLUDES = 100
_UNCHANGED = "Nothing was changed. Mend it (`openclaw doctor` shows more), then run this again."
Key = tuple[str, ...]


class Configuration:
    """The texts of the files, changed in memory: `texts` has what they are now, None for a missing file."""

    def __init__(self, path: Path, texts: Mapping[Path, str | None] | None = None) -> None:
        """Start from `openclaw.json`; `texts` stands in for files on disk. A missing file counts as `{}`."""
        self.path = path
        self.texts = dict(texts or {})
        self._includes = 0

    def effective(self, key: Key) -> Any:
        """Return what OpenClaw sees there after all includes; None if nothing."""
        self._includes = 0
        value = self._resolved(self.path, self._read(self.path).value, 0)
        for name in key:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def items(self, key: Key) -> list[Any]:
        """Return the array that stands at the place where a change to this key would go."""
        file, rest = self._place(key)
        value = self._read(file).value
        for name in rest:
            value = value.get(name, {}) if isinstance(value, dict) else {}
        return value if isinstance(value, list) else []

    def put(self, key: Key, value: Any) -> None:
        """Set a member, making the objects on the way. Raises BadInput where something else stands there."""
        file, rest = self._place(key)
        node, missing = self._reach(file, rest)
        if not missing:
            if node.value != value:
                self.texts[file] = editing.replaced(self._text(file), node, value)
            return
        self._must_be(node, dict, file, rest)
        for name in reversed(missing[1:]):
            value = {name: value}
        self.texts[file] = editing.inserted(self._text(file), node, missing[0], value)

    def add(self, key: Key, item: str) -> None:
        """Append an item to an array, making it if it is not there."""
        file, rest = self._place(key)
        node, missing = self._reach(file, rest)
        if missing:
            self.put(key, [item])
            return
        self._must_be(node, list, file, rest)
        if item not in node.value:
            self.texts[file] = editing.inserted(self._text(file), node, None, item)

    def take(self, key: Key, item: str | None = None) -> None:
        """Remove a member, or an item of an array, and the objects and arrays that are empty thereafter."""
        holder = key if item is not None else key[:-1]
        wanted = item if item is not None else key[-1]
        file, rest = self._place(holder)
        node, missing = self._reach(file, rest)
        found = (c for c in node.children if wanted == (c.node.value if item is not None else c.name))
        child = None if missing else next(found, None)
        if child is None:
            return
        self.texts[file] = editing.removed(self._text(file), node, child)
        left, _ = self._reach(file, rest)
        if left.children:
            self.take(key, item)  # a key may be said twice
        elif rest and not self._text(file)[left.start + 1 : left.end - 1].strip():
            self.take(holder)

    def _place(self, key: Key) -> tuple[Path, Key]:
        """Follow sections that are nothing but one `$include`: return the file and the rest of the key."""
        file, node, rest, inner = self.path, self._read(self.path), key, key
        for _ in range(_DEEPEST_INCLUDE + len(key)):
            target = self._only_include(file, node)
            child = node.child(rest[0]) if rest else None
            if target:
                file, node, inner = target, self._read(target), rest
            elif child:
                node, rest = child, rest[1:]
        return file, inner

    def _only_include(self, file: Path, node: json5.Node) -> Path | None:
        """Return the one file that this section consists of, if it lies in OpenClaw's own folder."""
        if not isinstance(node.value, dict) or len(node.value) != 1:
            return None
        target = node.value.get("$include")
        path = _included(file, target) if isinstance(target, str) else None
        return path if path and path.is_relative_to(self.path.parent.resolve()) else None

    def _reach(self, file: Path, key: Key) -> tuple[json5.Node, Key]:
        """Return the deepest value on the way to the key, and the names that are missing below it."""
        node = self._read(file)
        for i, name in enumerate(key):
            child = node.child(name)
            if child is None:
                return node, key[i:]
            node = child
        return node, ()

    def _must_be(self, node: json5.Node, kind: type, file: Path, key: Key) -> None:
        if not isinstance(node.value, kind):
            what = "an object" if kind is dict else "an array"
            raise BadInput(f"In {file}, {'.'.join(key)} cannot be set: {what} is needed where {node.value!r} stands.")

    def _resolved(self, file: Path, value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return [self._resolved(file, item, depth) for item in value]
        if not isinstance(value, dict):
            return value
        if depth > _DEEPEST_INCLUDE:
            raise BadInput(f"{file} is included more than {_DEEPEST_INCLUDE} levels deep.", _UNCHANGED)
        named = value.get("$include", [])
        merged: Any = {}
        for target in named if isinstance(named, list) else [named]:
            self._includes += 1
            if self._includes > _MOST_INCLUDES:
                raise BadInput(f"{self.path} includes files more than {_MOST_INCLUDES} times.", _UNCHANGED)
            path = _included(file, str(target))
            merged = _merged(merged, self._resolved(path, self._read(path).value, depth + 1))
        own = {name: self._resolved(file, item, depth) for name, item in value.items() if name != "$include"}
        return _merged(merged, own) if own or not named else merged

    def _text(self, file: Path) -> str:
        if file not in self.texts:
            self.texts[file] = read(file)
        text = self.texts[file]
        if text is None and file != self.path:
            raise BadInput(f"{file} is included but does not exist.", _UNCHANGED)
        return "{}\n" if text is None else text

    def _read(self, file: Path) -> json5.Node:
        try:
            return json5.parse(self._text(file))
        except BadInput as error:
            raise BadInput(f"{file} cannot be read: {error.message}.", _UNCHANGED) from error


def read(file: Path) -> str | None:
    """Return the text of a file, None if there is none. Raises BadInput if it cannot be read as UTF-8."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}.", _UNCHANGED) from error


def _included(file: Path, target: str) -> Path:
    try:
        return (file.parent / target).resolve()
    except (ValueError, OSError, RuntimeError) as error:  # a NUL, half a surrogate pair, a circle of links
        raise BadInput(f"{file} includes what is no path: {target[:80]!r}.", _UNCHANGED) from error


def _merged(below: Any, above: Any) -> Any:
    """Merge as OpenClaw does: objects key by key, arrays joined, anything else replaced."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{name: _merged(below.get(name), item) for name, item in above.items()}}
    if isinstance(below, list) and isinstance(above, list):
        return below + above
    return above
