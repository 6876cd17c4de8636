"""`limpet doctor`: says the whole way from hook to answer, link by link, and the one that is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import address, text, walk
from limpet.cli import output
from limpet.errors import CheckFailed
from limpet.memory import Memory

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from limpet.walk import Step


def doctor(args: argparse.Namespace) -> int:
    """Walk the chain from hook to answer, and name the broken link; exit status 5 where one is."""
    with Memory.open(args.db) as memory:
        memory.settings.check_local()
        steps = list(walk.steps(memory, lambda at_ms: output.moment(at_ms, memory.settings.zone)))
        broken = next((step for step in steps if not step.ok), None)
        if args.json:
            listed = [{"ok": s.ok, "what": s.what, "found": s.found, "remedy": s.remedy or None} for s in steps]
            output.as_json({"ok": broken is None, "broken": broken.what if broken else None, "steps": listed})
        else:
            _print(memory, steps, broken)
    return CheckFailed.exit_status if broken else 0


def _print(memory: Memory, steps: Sequence[Step], broken: Step | None) -> None:
    for step in steps:
        remedy = f" -> {step.remedy}" if step.remedy else ""
        output.data(f"{'ok    ' if step.ok else 'BROKEN'}  {step.what:<12} {text.clean(step.found + remedy)}")
    if broken:
        output.data(f"The broken link is: {broken.what}.{f' Do: {broken.remedy}' if broken.remedy else ''}")
    for name, origin in memory.settings.origins.items():
        value = address.shown(str(getattr(memory.settings, name)))
        output.data(f"setting {name:<18} {value}  ({origin.kind}{' ' + origin.name if origin.name else ''})")
