"""A day of a very busy gateway in a short time: memory and file handles stay flat, and every event is there once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lab import NOON, Lab, until

EVENTS = int(os.environ.get("LIMPET_SOAK_EVENTS", "2000000"))
SEGMENT = 4_000
PARTS = 20
"""In so many parts the run is measured."""


def lines(first: int, count: int) -> bytes:
    """Return lines of tool calls and messages as a producer writes them, an event each."""
    out = []
    for n in range(first, first + count):
        ctx = {
            "agentId": f"a{n % 5}",
            "sessionKey": f"agent:a{n % 5}:main",
            "sessionId": f"s-{n // 500}",
            "runId": f"r-{n // 20}",
        }
        said = {
            "toolName": "exec",
            "toolCallId": f"c-{n}",
            "params": {"command": f"make part {n}"},
            "durationMs": n % 900,
        }
        event = {**said, "result": {"content": [{"type": "text", "text": f"made {n} " * (1 + n % 9)}]}}
        head = {"v": 1, "id": f"{n:032x}", "producer": "p", "seq": n + 1, "ts": NOON + n * 43}
        out.append(json.dumps({**head, "hook": "after_tool_call", "ctx": ctx, "event": event}).encode())
    return b"\n".join(out) + b"\n"


def measured(pid: int) -> tuple[int, int]:
    """Return a process's resident memory in KiB and how many file handles it has (proc_pid_status(5))."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return resident, len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.soak
def test_two_million_events_need_no_more_memory_than_the_first_hundred_thousand(lab: Lab):
    """In twenty parts: the last part needs at most a quarter more memory, and no handle more, than the second."""
    seen = []
    with lab.sidecar() as sidecar:
        for part in range(PARTS):
            for first in range(part * EVENTS // PARTS, (part + 1) * EVENTS // PARTS, SEGMENT):
                count = min(SEGMENT, (part + 1) * EVENTS // PARTS - first)
                lab.spool([lines(first, count)], "p", first // SEGMENT + part * 1_000_000 + 1)
                until(lambda: len(lab.left_in_spool()) < 4, "the sidecar keeps up")
            until(lambda: lab.left_in_spool() == [], "everything is taken in")
            seen.append(measured(sidecar.pid))
    print("memory in KiB, file handles:", seen)
    with lab.store() as store:
        held, total = store.find.last_record()[1], store.find.bounds()[2]
    assert (held, total) == (EVENTS, EVENTS)
    assert max(handles for _, handles in seen[1:]) <= seen[1][1] + 2
    assert seen[-1][0] <= seen[1][0] * 1.25
    assert lab.limpet("verify").status == 0
