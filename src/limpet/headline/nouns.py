"""The noun of a headline: "failed tool calls", "messages from the user", and what else was asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.model import Query

NOUNS: Mapping[str, tuple[str, str]] = {
    "delivery": ("delivery", "deliveries"),
    **{
        name: (noun, f"{noun}s")
        for name, noun in {
            "tool_call": "tool call", "message": "message", "model_call": "model call", "run": "run", "gap": "gap",
            "session": "session event", "reset": "reset", "compaction": "compaction", "subagent": "subagent",
            "cron": "cron job", "gateway": "gateway event", "error": "error", "note": "note",
        }.items()
    },
}  # fmt: skip
EVENTS = ("event", "events")
STATES = {"started": "unfinished", "timed_out": "timed-out"}
PEOPLE = {"user": "the user", "agent": "the agent", "system": "the system"}
ORDERS = {"newest": "last", "oldest": "first", "slowest": "slowest", "fastest": "fastest"}
SAID = {
    "agent": "of agent {}", "session": "in session {}", "run": "in run {}", "call": "with the call id {}",
    "trust": "from {}", "source": "seen by {}", "label": "labelled {}", "tool": "of {}",
}  # fmt: skip
MOST_TYPES = 3
QUOTED_CHARS = 60

Values = tuple[str, ...]


def noun_of(query: Query, count: int) -> str:
    """Return "3 failed tool calls of agent night", "the last 5 messages", "4 sessions with errors"."""
    by = f" by {query.by}" if query.by else ""
    if query.count:
        with_ = f" with {_said(query, 2)}" if query.filters or query.words or query.without else ""
        return f"{count:,} {query.count}{'' if count == 1 else 's'}{with_}{by}"
    if query.take:
        some = "" if count == 1 else f" {count:,}" if count else " of 0"
        return f"the {ORDERS[query.sort]}{some} {_said(query, count)}"
    order = f", {query.sort} first" if query.sort in ("slowest", "fastest") else ""
    return f"{count:,} {_said(query, count)}{by}{order}"


def _said(query: Query, count: int) -> str:
    asked = {name: values for name, values, negated in query.filters if not negated}
    denied = {name: values for name, values, negated in query.filters if negated}
    kind, rest = _kind(asked, count)
    said = [kind, *_more(rest), *_texts(query), *_denied(denied)]
    return " ".join(said)


def _kind(asked: Mapping[str, Values], count: int) -> tuple[str, dict[str, Values]]:
    """Return the noun with its adjective, and the filters that it does not say."""
    rest = dict(asked)
    one = int(count != 1)
    types = rest.pop("type", ())
    noun = _joined([NOUNS.get(name, (f"{name} event", f"{name} events"))[one] for name in types]) or EVENTS[one]
    if len(types) > MOST_TYPES:
        noun = f"{EVENTS[one]} of the types {', '.join(types)}"
    if types == ("gateway",) and rest.get("status") == ("started",):
        noun, _ = ("gateway start", "gateway starts")[one], rest.pop("status")
    if "tool" in rest and types in ((), ("tool_call",)):
        tools = _either(rest.pop("tool"))
        noun = f"{tools} {('call', 'calls')[one]}" if types else f"{noun} of {tools}"
    if "error" in rest.get("is", ()):
        noun = ("error", "errors")[one] if not types else f"{noun} with an error"
    if rest.pop("is", ()) == ("deed",):
        who = f"agent {_either(rest.pop('agent'))}" if "agent" in rest else "the agent"
        noun = f"{noun} that {who} did"
    if "message" in types and len(types) == 1 and "actor" in rest:
        noun = f"{noun} from {_either([PEOPLE.get(who, who) for who in rest.pop('actor')])}"
    return f"{_adjective(rest.pop('status', ()))}{noun}", rest


def _adjective(statuses: Values) -> str:
    """Return "failed " and the like; what timed out has failed, where both are asked for."""
    shown = [status for status in statuses if not (status == "timed_out" and "failed" in statuses)]
    return f"{_either([STATES.get(status, status) for status in shown])} " if shown else ""


def _more(rest: Mapping[str, Values]) -> Iterator[str]:
    for name, values in rest.items():
        if name == "actor":
            yield f"of {_either([PEOPLE.get(who, who) for who in values])}"
        else:
            yield SAID[name].format(_either(values))


def _texts(query: Query) -> Iterator[str]:
    if query.words:
        yield "containing " + " and ".join(f'"{text.one_line(word, QUOTED_CHARS)}"' for word in query.words)
    if query.without:
        yield "without " + " or ".join(f'"{text.one_line(word, QUOTED_CHARS)}"' for word in query.without)


def _denied(denied: Mapping[str, Values]) -> Iterator[str]:
    if denied:
        yield f"except {', '.join(f'{name} {_either(values)}' for name, values in denied.items())}"


def _either(values: Sequence[str]) -> str:
    shown = [text.one_line(value, QUOTED_CHARS) for value in values]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _joined(nouns: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(nouns[:-1]), nouns[-1]))) if nouns else ""
