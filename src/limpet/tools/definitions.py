"""What the tools are called, what they say of themselves and what they take: read from the plugin's tools.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.errors import BadInput, NotFound
from limpet.runtimes.openclaw.setup import plugin_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.model import Json

KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
"""The kinds of arguments that the tools take, and what holds each in Python."""

FILE = "tools.json"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: `parameters` is a JSON schema of an object."""

    name: str
    label: str
    description: str
    parameters: Mapping[str, Any]


@cache
def tools() -> Mapping[str, Tool]:
    """Return every tool by its name, in their order."""
    said = json.loads((plugin_folder() / FILE).read_text("utf-8"))
    return {one["name"]: Tool(**one) for one in said}


def checked(name: str, arguments: Json) -> Mapping[str, Any]:
    """Return a tool's arguments, each of its kind and within its bounds.

    Numbers that came as text, and a text that came as a number, are taken for what they are: models mix them up.
    Raises NotFound for an unknown tool, BadInput for anything that the tool does not take.
    """
    tool = tools().get(name)
    if tool is None:
        raise NotFound(f"There is no tool {_shown(name)}.", f"The tools are: {', '.join(tools())}.")
    if not isinstance(arguments, dict):
        raise BadInput(f"The arguments of {name} must be a JSON object.", _usage(tool))
    known = tool.parameters["properties"]
    if unknown := [key for key in arguments if key not in known]:
        raise BadInput(f"{name} takes no argument {_shown(unknown[0])}.", _usage(tool))
    given = {key: value for key, value in arguments.items() if value is not None}
    if missing := [key for key in tool.parameters.get("required", ()) if key not in given]:
        raise BadInput(f"{name} needs the argument {missing[0]!r}.", _usage(tool))
    return {key: _value(tool, key, value, known[key]) for key, value in given.items()}


def _value(tool: Tool, key: str, value: Json, schema: Mapping[str, Any]) -> Any:
    taken = _of_kind(value, schema["type"])
    if taken is None or not _is_within(taken, schema):
        raise BadInput(f"{tool.name}: {key} cannot be {_shown(value)}; it is {_wanted(schema)}.", _usage(tool))
    return taken


def _of_kind(value: Json, kind: str) -> Any:
    """Return the value as what the tool takes, None where it is nothing of that kind."""
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if kind in ("integer", "number") and isinstance(value, str):
        value = _number(value)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    is_kind = isinstance(value, KINDS[kind]) and isinstance(value, bool) == (kind == "boolean")
    return value if is_kind else None


def _number(said: str) -> float | None:
    try:
        return float(said)
    except ValueError:
        return None


def _is_within(value: Any, schema: Mapping[str, Any]) -> bool:
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= schema["maxLength"]
    if isinstance(value, bool):
        return True
    above = value > schema["exclusiveMinimum"] if "exclusiveMinimum" in schema else value >= schema["minimum"]
    return bool(above and value <= schema["maximum"])


def _wanted(schema: Mapping[str, Any]) -> str:
    """Return in words what an argument may be."""
    kind = schema["type"]
    if kind == "string":
        return f"a text of 1 to {schema['maxLength']:,} characters"
    if kind == "boolean":
        return "true or false"
    low = f"above {schema['exclusiveMinimum']}" if "exclusiveMinimum" in schema else f"from {schema['minimum']}"
    return f"{'a whole number' if kind == 'integer' else 'a number'} {low} to {schema['maximum']:,}"


def _usage(tool: Tool) -> str:
    return f"{tool.name} takes: {', '.join(tool.parameters['properties'])}."


def _shown(value: Json) -> str:
    return text.one_line(json.dumps(value, ensure_ascii=False, default=str), 80)
