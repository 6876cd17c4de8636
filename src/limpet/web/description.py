"""The API's description (OpenAPI 3.1), made from the table of its calls; the shapes are those of `wire`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import __version__
from limpet.model import STATUSES, TRUSTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from limpet.web.api import Call
    from limpet.web.parameters import Parameter

Schema = dict[str, Any]


def described(calls: Iterable[Call]) -> Mapping[str, Any]:
    """Return the whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Limpet",
            "version": __version__,
            "description": "What an agent's memory holds. Read only; the same answers as `limpet ... --json`.",
        },
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": {call.path: {"get": _operation(call)} for call in calls},
        "components": {
            "schemas": SHAPES,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "limpet"},
            },
        },
    }


def _operation(call: Call) -> Schema:
    answers = {str(status): _answer("Error", why) for status, why in ERRORS.items()}
    return {
        "operationId": call.answer.__name__,
        "summary": call.help,
        "parameters": [_parameter(one) for one in call.takes],
        "responses": {"200": _answer(call.shape, "the answer"), **answers},
    }


def _answer(shape: str, why: str) -> Schema:
    schema = {"$ref": f"#/components/schemas/{shape}"}
    return {"description": why, "content": {"application/json": {"schema": schema}}}


def _parameter(one: Parameter) -> Schema:
    return {
        "name": one.name,
        "in": "path" if one.in_path else "query",
        "required": one.needed,
        "description": one.help,
        "schema": _kind(one),
    }


def _kind(one: Parameter) -> Schema:
    if one.kind in ("integer", "number"):
        return {"type": one.kind, "minimum": one.low, "maximum": one.high, "default": one.default}
    return {"type": "boolean" if one.kind == "truth" else "string"}


def _object(needed: Schema, **more: Schema) -> Schema:
    properties = {**needed, **more}
    return {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _or_none(kind: str) -> Schema:
    return {"type": [kind, "null"]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
ANY: Schema = {}
TIME: Schema = {"type": "string", "format": "date-time"}
TIME_OR_NONE: Schema = {"type": ["string", "null"], "format": "date-time"}
GAP = _object({"from": TIME, "to": TIME_OR_NONE, "source": TEXT, "why": TEXT})
EVENT: Schema = {
    "id": TEXT,
    "time": TIME,
    "type": TEXT,
    "agent": TEXT,
    **{name: _or_none("string") for name in ("session", "run", "call", "tool")},
    "status": {"enum": [*STATUSES, None]},
    "duration_ms": _or_none("integer"),
    "summary": TEXT,
    "error": _or_none("string"),
    "trust": {"enum": list(TRUSTS)},
    "label": _or_none("string"),
    "actor": _or_none("string"),
    "flags": _list(TEXT),
    "sources": _list(TEXT),
}
RECORD = _object({"no": WHOLE, "source": TEXT, "kind": TEXT, "body": ANY})
SHAPES: Mapping[str, Schema] = {
    "Error": _object({"error": _object({"code": TEXT, "message": TEXT, "hint": TEXT})}),
    "Event": {"type": "object", "properties": EVENT, "required": list(EVENT)},
    "Shown": _object({**EVENT, "details": ANY, "records": _list(RECORD)}),
    "Coverage": _object(
        {"state": {"enum": ["complete", "partial", "blind", "unknown"]}, "gaps": _list(GAP)}, pending_bytes=WHOLE
    ),
    "Answer": _object(
        {
            "question": TEXT,
            "understood": TEXT,
            "window": _object({"from": TIME_OR_NONE, "to": TIME_OR_NONE, "zone": TEXT}),
            "count": WHOLE,
            "events": _list(_ref("Event")),
            "groups": _list(_object({"key": _or_none("string"), "count": WHOLE})),
            "coverage": _ref("Coverage"),
        },
        note=TEXT,
    ),
    "Session": _object(
        {
            "session": TEXT,
            "continues": _or_none("string"),
            "end": {"anyOf": [_object({"at": TIME, "how": TEXT}), {"type": "null"}]},
            "events": _list(_ref("Event")),
        }
    ),
    "Brief": _object(
        {"agent": TEXT, "audience": TEXT, "at": TIME, "tokens": WHOLE, "own": TEXT, "quoted": TEXT, "told": _list(TEXT)}
    ),
    "Notes": _object({"notes": _list({"type": "object", "required": ["agent", "paragraph", "statements"]})}),
    "Status": {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "state": TEXT, "sentence": TEXT, "pending_bytes": WHOLE},
        "required": ["ok", "state", "sentence", "pending_bytes", "lacks"],
    },
}
ERRORS: Mapping[int, str] = {
    400: "the question or a parameter was not understood",
    401: "no valid key",
    403: "asked by another web page, or under a foreign name",
    404: "there is no such thing",
    503: "the database cannot be read now",
}
