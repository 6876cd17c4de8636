"""The filter face of a question: what `name:value` means, and which names and values there are. No English."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from limpet.model import STATUSES, TRUSTS, TYPES
from limpet.question.moments import Span
from limpet.question.nearest import nearest
from limpet.question.refusal import EXAMPLE, quote, refused, short
from limpet.question.settling import Bound
from limpet.question.spans import GLUED, read_span
from limpet.question.vocabulary import CHOICES, FILTER_NAMES, FILTERS, NUMBERS, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from limpet.question.draft import Draft
    from limpet.question.moments import Now, Times
    from limpet.question.scan import Token

Names = Mapping[str, "Collection[str]"]
"""What the store knows: of each kind (tool, agent, session ...) the names."""

NAMELESS = "unknown"
"""As which agent an event is shown, and asked for, that names none."""

WORDS: Mapping[str, Sequence[str]] = {"status": STATUSES, "trust": TRUSTS, "is": ("error", "deed"), **CHOICES}
"""The filters whose values are words of ours, with all of them."""

SIDES = {"on": "in", "since": "since", "until": "until"}
PIECE = re.compile(r"[^\s,]+|,")
DIGITS = re.compile(r"[0-9]{1,12}")


def apply(draft: Draft, token: Token, now: Now, names: Names) -> None:
    """Take a filter into the draft; raises NotUnderstood for a name or a value that there is not."""
    name, values = token.name, token.values
    if name not in FILTER_NAMES:
        raise unknown(token)
    if name in FILTERS:
        checked = tuple(value_of(name, value, quoted=quoted, names=names) for value, quoted in values)
        draft.notes.extend(unheard_of(name, value, names) for value in checked)
        draft.add(((name, checked),), negated=token.minus)
        return
    if token.minus:
        raise refused(f"-{name}: has no meaning: only {', '.join(FILTERS)} can be denied.", "unknown_filter")
    if len(values) > 1:
        raise refused(f"{name}: takes one value.", "bad_value", f"{EXAMPLE} {name}:{_example_of(name)}")
    if name in WINDOWS:
        draft.bound(_bounds(name, values[0][0], token.text, now))
    else:
        draft.set(name, setting(name, values[0][0]))


def unknown(token: Token) -> Exception:
    """Return the refusal of a filter that there is not."""
    near = nearest(token.name, FILTER_NAMES)
    text = f"{token.name}:{','.join(value for value, _ in token.values)}"
    advice = f"Did you mean {near}:?" if near else f"The filters are {', '.join(FILTER_NAMES)}."
    message = f"There is no filter {short(token.name)}:."
    return refused(message, "unknown_filter", quote(text), f"{advice} To look for the text, quote it.")


def value_of(name: str, value: str, *, quoted: bool, names: Names) -> str:
    """Return the value as it is meant; raises NotUnderstood for a word that the filter does not know."""
    if name == "type":
        return _type_of(value, quoted=quoted, names=names)
    words = WORDS.get(name)
    if words is None or value in words:
        return value
    if value.lower() in words:
        return value.lower()
    raise _no_value(name, value, words)


def _type_of(value: str, *, quoted: bool, names: Names) -> str:
    """Return the type: users make their own with `add`, but a slip of the pen is not one."""
    if value.lower() in TYPES or quoted or value in names.get("type", ()):
        return value.lower() if value.lower() in TYPES else value
    if nearest(value.lower(), TYPES):
        raise _no_value("type", value, TYPES)
    return value


def _no_value(name: str, value: str, words: Sequence[str]) -> Exception:
    near = nearest(value.lower(), words)
    advice = "" if near else f"The values are {', '.join(words)}."
    return refused(f"{name}: has no value {short(value)!r}.", "bad_value", f"{name}:{near or words[0]}", advice)


def words_of(name: str) -> Sequence[str]:
    """Return the words that a filter has for values, none where it takes any name."""
    return TYPES if name == "type" else WORDS.get(name, ())


def unheard_of(name: str, value: str, names: Names) -> str:
    """Return a remark on a name that the store does not know, "" where it does or cannot tell."""
    known = names.get(name)
    if not known or value in known or (name == "agent" and value == NAMELESS):
        return ""
    near = nearest(value, known, 0.7)
    return f"No {name} {short(value)!r} is known{f' (nearest: {near})' if near else ''}."


def setting(name: str, value: str) -> str:
    """Return the value of a setting; raises NotUnderstood for one that there is not."""
    if name not in NUMBERS:
        return value_of(name, value, quoted=False, names={})
    least, most = NUMBERS[name]
    if not DIGITS.fullmatch(value) or not least <= int(value) <= most:
        message = f"{name}: takes a number from {least} to {most:,}, not {short(value)!r}."
        raise refused(message, "bad_value", f"{EXAMPLE} {name}:{_example_of(name)}")
    return str(int(value))


def _example_of(name: str) -> str:
    return "yesterday" if name in WINDOWS else "10" if name in NUMBERS else CHOICES[name][0]


def _bounds(name: str, value: str, said: str, now: Now) -> list[Bound]:
    first, dots, last = value.partition("..")
    if not dots or name != "on":
        return [Bound(SIDES[name], _when(name, value, now), said)]
    return [Bound("since", _when(name, first, now), said), Bound("until", _when(name, last, now), said)]


def _when(name: str, value: str, now: Now) -> Span | Times:
    """Return the time that a filter names: any that a question can name, with `-` for spaces, and `since:24h`."""
    if value.lower() == "now":
        return Span(now.at_ms, now.at_ms, point=True)
    if GLUED.fullmatch(value.lower()) and (read := read_span(["last", value.lower()], now)):
        assert isinstance(read[0], Span)  # noqa: S101 - "last 24h" is no time of day
        return Span(read[0].start_ms, read[0].start_ms, point=True)
    for text in (value, value.replace("-", " ")):
        words = PIECE.findall(text.lower())
        read = read_span(words[1:] if words[:1] == ["the"] else words, now, prepared=True)
        if read and read[1] == len(words) - (words[:1] == ["the"]):
            return read[0]
    example = "until:2026-10-25" if name == "until" else f"{name}:yesterday"
    raise refused(f"{name}: does not know the time {short(value)!r}.", "bad_time", f"tool calls {example}")
