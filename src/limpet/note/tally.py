"""The pass over a span's events: exact counts, kinds of things, and what is few enough to be told one by one. Bounded.

Not for words: `telling` makes the statements of it.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from limpet.deeds.deed import MAKERS, Deed, aim_of, deed_of
from limpet.deeds.quoting import code, plain
from limpet.note.ids import NAMED, Ids
from limpet.note.kinds import FEW, Hopes, Kind, Mishaps, kind_of
from limpet.note.turns import Turns
from limpet.runtimes.saying import mapping, name
from limpet.store.where import NOISE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from limpet.model import Event

FAILED_IDS = 2000
"""So many failed calls of a note are named by their ids; more than these are counted."""

FAILED = frozenset({"failed", "timed_out"})
STOPPED = frozenset({"blocked", "cancelled"})
SILENT_TOOLS = frozenset({"process", "tool_call"})
"""Polling of a command that runs, and the tool that reaches another one, which has an event of its own."""


class Tally:
    """Everything that is kept of a span while its events go by, oldest first."""

    def __init__(self, agent: str) -> None:
        """Count for this agent."""
        self.agent = agent
        self.counts: Counter[str] = Counter()
        self.kinds: dict[str, dict[str, Kind]] = {}
        self.stopped, self.open, self.trouble = Mishaps(), Mishaps(), Mishaps()
        self.failed = Mishaps(ids=Ids(FAILED_IDS))
        self.turns = Turns()
        self._hopes = Hopes()
        self.plain: dict[str, Ids] = {}
        self.added: deque[Event] = deque(maxlen=FEW)
        self.added_ids = Ids()
        self.times: dict[str, list[int]] = {}
        self.first_ms: int | None = None
        self.last_ms = 0
        self._readers: Mapping[str, Callable[[Event], None]] = {
            "tool_call": self._call,
            "message": self._message,
            "delivery": self._delivery,
            "cron": self._cron,
            "run": self._run,
            "model_call": self._model_call,
            "subagent": self._subagent,
            "error": self._error,
            "reset": self._plainly,
            "compaction": self._plainly,
            "gateway": self._plainly,
            "session": self._session,
        }
        self._sessions: set[int] = set()
        self._keys: set[int] = set()
        self._beats: set[int] = set()
        self._files: set[int] = set()

    def feed(self, event: Event) -> None:
        """Take one event in; Limpet's own and the gateway's inner ones are passed over."""
        if event.label in NOISE or event.type == "gap":
            return
        self.counts["events"] += 1
        if event.label == "heartbeat":
            self._beat(event)
        else:
            self._note_presence(event)
        self._readers.get(event.type, self._add)(event)

    def finish(self) -> Counter[str]:
        """Return the counts, when all events went by."""
        self.counts["sessions"] = len(self._sessions) or len(self._keys)
        self.counts["files"] = len(self._files)
        self.counts["heartbeats"] = len(self._beats) or self.counts["beats"]
        return self.counts

    def _note_presence(self, event: Event) -> None:
        if event.type != "gateway" and (event.type != "cron" or event.call):
            self.first_ms = event.at_ms if self.first_ms is None else self.first_ms
            self.last_ms = event.at_ms
        if event.session:
            self._sessions.add(hash(event.session))
        elif event.session_key:
            self._keys.add(hash(event.session_key))

    def _beat(self, event: Event) -> None:
        self.plain.setdefault("heartbeat", Ids()).add(event)
        if event.run:
            self._beats.add(hash(event.run))
        self.counts["beats"] += event.type == "message" and event.actor == "user"

    def _kind(self, family: str, deed: Deed) -> Kind:
        return kind_of(self.kinds.setdefault(family, {}), deed)

    def _call(self, event: Event) -> None:
        self.counts["calls"] += 1
        deed = deed_of(event)
        kind = self._kind(deed.family, deed)
        kind.same = kind.same and kind.deed.whole == deed.whole
        good = event.status == "succeeded"
        if not good or (event.label != "heartbeat" and event.tool not in SILENT_TOOLS):
            kind.told.add(event)
            kind.without += event.status in FAILED or event.status in STOPPED or event.status == "interrupted"
        if good:
            self._succeeded(event, deed, kind)
        elif event.status in FAILED:
            self._fail(event, deed, kind)
        elif event.status in STOPPED:
            self.counts[event.status] += 1
            self.stopped.add(event, deed.whole, self._hopes.of(aim_of(event, deed)))
        else:
            self.counts["interrupted" if event.status == "interrupted" else "open"] += 1
            self.open.add(event, deed.whole, self._hopes.of(aim_of(event, deed)))

    def _fail(self, event: Event, deed: Deed, kind: Kind) -> None:
        self.counts["failed"] += 1
        kind.failed.most = NAMED if self.counts["failed"] > FAILED_IDS else FAILED_IDS
        kind.failed.add(event)
        kind.error = event.error or kind.error
        hope = self._hopes.of(aim_of(event, deed))
        if hope is not None:
            hope.failed += 1
        self.failed.add(event, deed.whole, hope)

    def _succeeded(self, event: Event, deed: Deed, kind: Kind) -> None:
        if deed.family == "wrote":
            kind.made = kind.made or event.tool.lower() in MAKERS
            self._files.add(hash(deed.key))
        mended = self._hopes.fulfil(aim_of(event, deed), event)
        self.counts["recovered"] += mended
        kind.mended += mended

    def _message(self, event: Event) -> None:
        if event.label == "heartbeat":
            return
        if event.actor == "agent":
            self.counts["answered"] += 1
            self.turns.answer(event)
        elif event.actor == "user" and not event.label and ":subagent:" not in event.session_key:
            self.counts["asked"] += 1
            self.turns.ask(event)

    def _delivery(self, event: Event) -> None:
        if event.label == "heartbeat" and event.status == "succeeded":
            return
        channel = name(mapping(event.details).get("channel")) or "a channel"
        shown = plain(channel, 40)
        aim = ("delivery", event.session_key or channel)
        if event.status == "succeeded":
            self.counts["delivered"] += 1
            self._kind("delivery", Deed("delivery", channel, shown, shown)).told.add(event)
            self.turns.answer(event)
            self._hopes.fulfil(aim, event)
        else:
            self.counts["undelivered"] += 1
            self.trouble.add(event, f"a message to {shown}", self._hopes.of(aim))

    def _cron(self, event: Event) -> None:
        if not event.call:
            self._plainly(event)
            return
        self.counts["cron"] += 1
        title = event.summary.removeprefix("cron job ").partition(": ")[0]
        kind = self._kind("cron", Deed("cron", event.call, code(title), code(title)))
        kind.told.add(event)
        kind.last = event
        if event.status == "succeeded":
            self._hopes.fulfil(("cron", event.call), event)
        elif event.status and event.status != "started":
            kind.without += 1
            self.counts["failed_cron"] += event.status in FAILED
            self.trouble.add(event, f"cron job {code(title)}", self._hopes.of(("cron", event.call)))

    def _run(self, event: Event) -> None:
        beating = event.label == "heartbeat"
        self.counts["runs"] += not beating
        aim = ("run", event.session_key or event.session)
        if event.status in FAILED:
            self.counts["failed_runs"] += 1
            self.trouble.add(event, "a heartbeat" if beating else "a run", self._hopes.of(aim))
        elif event.status == "succeeded":
            self._hopes.fulfil(aim, event)

    def _model_call(self, event: Event) -> None:
        self.counts["model_calls"] += 1
        if event.status in FAILED:
            self.counts["failed_model_calls"] += 1
            self.plain.setdefault("model", Ids()).add(event)

    def _subagent(self, event: Event) -> None:
        self.counts["subagents"] += 1
        title = event.summary.removeprefix("subagent ").removesuffix(" started") or "unnamed"
        kind = self._kind("subagent", Deed("subagent", title, code(title), code(title)))
        kind.told.add(event)
        if event.status in FAILED:
            kind.without += 1
            self.trouble.add(event, f"subagent {code(title)}")

    def _error(self, event: Event) -> None:
        self.counts["errors"] += 1
        self.trouble.add(event, "")

    def _plainly(self, event: Event) -> None:
        """Take in what is told with its time only: resets, compactions, the gateway's turns, changes of cron jobs."""
        what = {"reset": "resets", "compaction": "compactions", "cron": "jobs"}.get(event.type, "")
        if event.type == "gateway" and event.status == "started":
            what = "restarts"
        self.counts[what] += 1
        ids = self.plain.setdefault(what or "stops", Ids())
        ids.add(event)
        times = self.times.setdefault(what or "stops", [])
        if len(times) < NAMED:
            times.append(event.at_ms)

    def _session(self, event: Event) -> None:
        """Pass over a session's start and end: what happened in it is told."""

    def _add(self, event: Event) -> None:
        self.counts["added"] += 1
        self.added.append(event)
        self.added_ids.add(event)
