"""A Query in filter form, which parses to the same Query again. The other way round is not its business."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import days
from limpet.question.draft import SHOWN
from limpet.question.refusal import as_filter, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.model import Query


def print_query(query: Query) -> str:
    """Return the question in filter form: `type:tool_call status:failed,timed_out on:2026-10-25`."""
    return " ".join(pieces(query))


def pieces(query: Query) -> list[str]:
    """Return the parts of the filter form, each of which can be taken away or typed by itself."""
    return [*_filters(query), *_texts(query), *_window(query), *_settings(query)]


def _filters(query: Query) -> Iterator[str]:
    yield from (as_filter(name, values, negated=negated) for name, values, negated in query.filters)


def _texts(query: Query) -> Iterator[str]:
    yield from (quote(text) for text in query.words)
    yield from (f"-{quote(text)}" for text in query.without)


def _window(query: Query) -> Iterator[str]:
    """Yield whole local days as dates, a single one as `on:`, anything else as instants with their offset."""
    since, until = query.since_ms, query.until_ms
    empty = since is not None and until is not None and since >= until
    first = None if since is None or empty else _day_from(since, query.zone)
    last = None if until is None or empty else _day_to(until, query.zone)
    if first and first == last:
        yield f"on:{first}"
        return
    if since is not None:
        yield f"since:{first or _instant(since, query.zone)}"
    if until is not None:
        yield f"until:{last or _instant(until, query.zone)}"


def _day_from(at_ms: int, zone: str) -> str:
    """Return the date of the day that begins at the instant, "" where none does."""
    day = days.day_of(at_ms, zone)
    return day.isoformat() if days.window_of(day, zone)[0] == at_ms else ""


def _day_to(at_ms: int, zone: str) -> str:
    """Return the date of the day that ends at the instant, "" where none does."""
    day = days.day_of(at_ms - 1, zone)
    return day.isoformat() if days.window_of(day, zone)[1] == at_ms else ""


def _instant(at_ms: int, zone: str) -> str:
    shown = days.to_local(at_ms, zone)
    return shown.isoformat(timespec="milliseconds" if at_ms % 1000 else "seconds")


def _settings(query: Query) -> Iterator[str]:
    labelled = any(name == "label" and not negated for name, _, negated in query.filters)
    usual = {"sort": "newest", "limit": query.take or SHOWN, "noise": labelled}
    for name in ("by", "count", "sort", "take", "limit", "offset", "noise"):
        value = getattr(query, name)
        if value != usual.get(name, type(value)()):
            yield f"{name}:{('no', 'yes')[value] if isinstance(value, bool) else value}"
