"""What Limpet's own records mean: events that people add, rows of the 150-line script, gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import jsonline, text
from limpet.model import OWN
from limpet.runtimes.outcome import words_of
from limpet.runtimes.saying import mapping, name, when

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from limpet.model import Fact, Json
    from limpet.runtimes.saying import Saying

SUMMARY_CHARS = 2000
"""What a person writes is kept longer than what is cut out of a tool call."""


def limpet_add(saying: Saying) -> Sequence[Fact]:
    """Return an event that somebody added: with `limpet add`, `log_event` or `log_error`."""
    event = saying.event
    return [
        saying.fact(
            text.one_line(name(event.get("type")), 64) or "note", "whole", 0,
            actor="user", trust=name(event.get("trust")) or "owner",
            summary=_kept(name(event.get("summary"))),
            details=event.get("details"), tags=event.get("tags"), tool=name(event.get("tool")),
            text=" ".join(text.plain(event.get(name)) for name in ("summary", "details", "tags")),
        )
    ]  # fmt: skip


def limpet_tool_call(saying: Saying) -> Sequence[Fact]:
    """Return a tool call logged with `log_tool_call`: a success where its result says `ok`."""
    event = saying.event
    tool, result = name(event.get("tool")), mapping(event.get("result"))
    good = bool(result.get("ok"))
    return [
        saying.fact(
            "tool_call", "whole", 0, tool=tool, status="succeeded" if good else "failed",
            actor="agent", trust="tool", summary=f"{text.one_line(tool, 200)} executed", tags=["tool", tool],
            error="" if good else text.one_line(words_of(result.get("error")), 500),
            text=f"{tool} {text.plain(event.get('args'))} {text.plain(event.get('result'))}",
        )
    ]  # fmt: skip


def script_row(saying: Saying) -> Sequence[Fact]:
    """Return the event of one row of the 150-line script's table; its times are local to the machine that wrote it."""
    event = saying.event
    details, tags = _opened(event.get("details")), _opened(event.get("tags"))
    kind = name(event.get("event_type")) or "note"
    at_ms, flag = when(event.get("timestamp"), saying.record.arrived_ms, name(saying.ctx.get("zone")) or "UTC")
    success = mapping(details).get("success")
    summary = name(event.get("summary"))
    return [
        saying.fact(
            kind, "whole", 0, at_ms=at_ms, flags=("script", flag) if flag else ("script",),
            session=name(event.get("session_id")), tool=name(mapping(details).get("tool")),
            status="" if not isinstance(success, bool) else "succeeded" if success else "failed",
            actor="agent", trust="unknown", summary=summary, details=details, tags=tags,
            text=f"{summary} {text.plain(details)} {text.plain(tags)}",
        )
    ]  # fmt: skip


def limpet_dropped(saying: Saying) -> Sequence[Fact]:
    """Return a gap: events that the plugin could not write anywhere, counted by it, told when it could write again."""
    event = saying.event
    at_ms, flag = when(event.get("since_ms"), saying.record.arrived_ms)
    count = event.get("dropped")
    reason = text.one_line(words_of(event.get("reason")), 200) or "no reason given"
    until, _ = when(event.get("until_ms"), saying.record.arrived_ms)
    return [
        saying.fact(
            "gap", "whole", 0, at_ms=at_ms, flags=(flag,) if flag else (), actor="system", trust="system", label="",
            duration_ms=max(0, until - at_ms), status="failed", error=reason,
            summary=f"{count} events could not be recorded: {reason}",
            details={"dropped": count, "until_ms": until, "source": saying.record.source},
        )
    ]  # fmt: skip


def amendment(saying: Saying) -> Sequence[Fact]:
    """Return the event that tells what Limpet did to its ledger; the records of one job are one event."""
    event = saying.event
    summary = _kept(name(event.get("summary"))) or saying.record.kind
    return [
        saying.fact(
            "note", "whole", 0, f"amendment:{name(event.get('job')) or saying.record.id}", actor="user", trust="owner",
            summary=summary, tags=[saying.record.kind.removeprefix("limpet_")], text=summary,
        )
    ]  # fmt: skip


def limpet_lost(saying: Saying) -> Sequence[Fact]:
    """Return a gap for the first of some records that could not be read back from a damaged database."""
    event = saying.event
    count = event.get("lost")
    if not isinstance(count, int):
        return ()  # another of them, or one that was forgotten
    at_ms, flag = when(event.get("since_ms"), saying.record.arrived_ms)
    until, _ = when(event.get("until_ms"), saying.record.arrived_ms)
    return [
        saying.fact(
            "gap", "whole", 0, at_ms=at_ms, flags=(flag,) if flag else (), actor="system", trust="system", label="",
            duration_ms=max(0, until - at_ms), status="failed",
            summary=f"{count:,} records could not be read back from a damaged database",
        )
    ]  # fmt: skip


def limpet_brief(saying: Saying) -> Sequence[Fact]:
    """Return what an agent was told at the start of a window: known to whoever asks for it, and no news to anybody."""
    event = saying.event
    said, size, digest = event.get("told"), event.get("bytes"), name(event.get("sha256"))
    told: list[Json] = said if isinstance(said, list) else []
    return [
        saying.fact(
            "brief", "whole", 0, actor="system", trust="system", label=OWN, status="succeeded",
            summary=f"brief handed over ({size} bytes, {len(told)} events quoted, sha256 {digest[:16]})",
            details={"sha256": digest, "bytes": size, "told": told, "at": event.get("at")},
        )
    ]  # fmt: skip


def limpet_rescued(saying: Saying) -> Sequence[Fact]:
    """Return an error: the database was damaged, and how much of it could be read back."""
    event = saying.event
    records, lost = (n if isinstance(n := event.get(name), int) else 0 for name in ("records", "lost"))
    kept = event.get("kept_from_ms")
    summary = f"the database was damaged: {records:,} of {records + lost:,} records could be read back"
    return [
        saying.fact(
            "error", "whole", 0, at_ms=saying.record.arrived_ms, actor="system", trust="system", label="",
            status="failed", summary=summary, error=text.one_line(words_of(event.get("error")), 200),
            details={"records": records, "lost": lost, **({"kept_from_ms": kept} if kept else {})},
        )
    ]  # fmt: skip


def _kept(summary: str) -> str:
    said = text.clean(summary)
    return said if len(said) <= SUMMARY_CHARS else said[: SUMMARY_CHARS - 1] + "…"


def _silent(_saying: Saying) -> Sequence[Fact]:
    return ()


NATIVE: Mapping[str, Callable[[Saying], Sequence[Fact]]] = {
    "limpet_add": limpet_add,
    "limpet_tool_call": limpet_tool_call,
    "script_row": script_row,
    "limpet_dropped": limpet_dropped,
    "limpet_forget": amendment,
    "limpet_prune": amendment,
    "limpet_redact": amendment,
    "limpet_restore": amendment,
    "limpet_brief": limpet_brief,
    "limpet_lost": limpet_lost,
    "limpet_rescued": limpet_rescued,
    "limpet_start": _silent,
    "limpet_stop": _silent,
    "limpet_beat": _silent,
}
"""Each kind of Limpet's own records, and what it means."""


def _opened(value: Any) -> Json:
    """Open JSON printed into text, as the script's columns hold it; anything else stays as it is."""
    if not isinstance(value, str) or not value.strip():
        return value or None
    try:
        return jsonline.parse_text(value)
    except ValueError:
        return value
