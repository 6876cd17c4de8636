"""Makes `src/limpet/cli/demo_day.jsonl`, the day that `limpet demo` plays: two agents, people and places made up.

Run it after a change: `.venv/bin/python tools/demo/plot.py`; a test holds it and the file together.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from writing import WORKSPACE, Day, Session

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path(__file__).resolve().parents[2] / "src" / "limpet" / "cli" / "demo_day.jsonl"
TOKEN = "{{github token}}"  # noqa: S105 - a blank: the demo puts one together, so that no scanner stumbles over this file


def heartbeat(day: Day, agent: str) -> None:
    """Let the gateway wake an agent, which finds nothing to do."""
    session = Session(day, agent, "main:heartbeat", trigger="heartbeat")
    session.asks("Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK.", owner=False)
    session.closes("HEARTBEAT_OK")


def hours(day: Day, first: int, last: int) -> None:
    """Let the heartbeats of these hours pass, each at one minute past."""
    for hour in range(first, last + 1):
        day.clock(f"{hour:02}:01")
        heartbeat(day, "main")


def morning(day: Day, main: Session) -> None:
    """Book a table, and a room; the first room was gone."""
    day.clock("07:00")
    day.cron("morning-digest", "0 7 * * *", "3 appointments, 1 parcel, rain from 16:00", 1840)
    day.clock("07:38:20")
    main.starts()
    day.after(30)
    main.asks("Book a table for four at Trattoria Lucia tomorrow at 19:30, please.", "telegram")
    main.uses(
        "booking_search",
        {"query": "Trattoria Lucia", "people": 4, "at": "tomorrow 19:30"},
        '{"free":["19:30","20:15"]}',
        910,
    )
    main.uses(
        "booking_create",
        {"place": "Trattoria Lucia", "people": 4, "at": "tomorrow 19:30", "name": "Weber"},
        '{"ok":true,"booking":"TL-4471"}',
        1320,
    )
    main.closes("Done: Trattoria Lucia, tomorrow 19:30, four people, booking TL-4471.", "telegram")
    hours(day, 8, 9)
    day.clock("09:14")
    main.asks("And a room in Turin for the 14th, under 120 euros.", "telegram")
    main.uses(
        "booking_search",
        {"query": "hotel Turin", "night": "14th", "below": 120},
        '{"rooms":["Hotel Alba 98","Casa Po 110"]}',
        1260,
    )
    gone = "room no longer available"
    main.uses("booking_create", {"place": "Hotel Alba", "night": "14th", "name": "Weber"}, gone, 880, error=gone)
    main.uses(
        "booking_create",
        {"place": "Casa Po", "night": "14th", "name": "Weber"},
        '{"ok":true,"booking":"CP-0932"}',
        1190,
    )
    main.closes("Hotel Alba was gone; Casa Po is booked for the 14th at 110 euros, booking CP-0932.", "telegram")


def posts(day: Day, press: Session) -> None:
    """Let the second agent write a post and announce it; the first delivery fails."""
    hours(day, 10, 10)
    day.clock("10:32")
    press.starts()
    press.asks("Publish the post about the spring market and announce it in the channel.", "discord")
    press.uses(
        "read",
        {"path": "drafts/spring-market.md"},
        "# Spring market\n\nSaturday, 9:00 to 14:00, on the old square.",
        35,
    )
    press.uses("web_fetch", {"url": "https://market.example/dates"}, "Saturday 9:00-14:00, Old Square", 640)
    press.runs("blog publish drafts/spring-market.md", "published: https://blog.example/spring-market", 2310)
    press.uses(
        "social_post",
        {"message": "Spring market on Saturday: https://blog.example/spring-market"},
        '{"ok":true,"post":"88213"}',
        760,
    )
    press.closes("Published, and announced as post 88213.", "discord", fails_first="discord: 503 Service Unavailable")


def deploy(day: Day, main: Session) -> None:
    """Deploy: it fails on a test, is mended and succeeds; then a token stands in a command."""
    hours(day, 11, 11)
    day.clock("11:43")
    main.asks("Deploy the shop, version 2.8.", "telegram")
    failed = "running 212 tests\nFAILED test_rounding: 19.99 != 20.0\nmake: *** [deploy] Error 2"
    main.runs("make deploy VERSION=2.8", failed, 48_200, code=2)
    main.uses("read", {"path": "shop/prices.py"}, "def shown(cents):\n    return round(cents / 100)", 28)
    main.uses(
        "edit", {"path": "shop/prices.py", "old": "round(cents / 100)", "new": "cents / 100"}, "1 replacement", 31
    )
    main.runs("make deploy VERSION=2.8", "running 212 tests\n212 passed\ndeployed 2.8 to shop.example", 61_700)
    call = f"curl -sS -X POST -H 'Authorization: Bearer {TOKEN}' https://api.example/repos/shop/releases"
    main.runs(f"{call} -d tag=v2.8", '{"id":5150,"tag":"v2.8"}', 930)
    main.closes(
        "2.8 is live. One test failed at first (prices were rounded); I mended that and deployed again.", "telegram"
    )


def noon(day: Day, main: Session) -> None:
    """Compact the prompt by hand; then let a subagent look something up."""
    hours(day, 12, 12)
    day.clock("12:30")
    ctx = {**main.ids, "workspaceDir": WORKSPACE}
    day.say("before_compaction", ctx, {"messageCount": 46, "tokenCount": 18_700})
    main.model_calls = 0
    main.thinks(3900, run=f"{day.id('compaction')}:compaction:1")
    day.say("after_compaction", ctx, {"messageCount": 9, "tokenCount": 2140, "compactedCount": 37})
    hours(day, 13, 13)
    day.clock("13:06")
    main.asks("Find out which trains go to Turin on the 14th after 15:00.", "telegram")
    spawn(day, main)


def spawn(day: Day, main: Session) -> None:
    """Hand the question to a subagent, through the tool `tool_call` as OpenClaw does it."""
    child = Session(day, main.agent, f"subagent:{day.id('child')}")
    child.run = child_run = day.id("child run")
    task = {"task": "Which trains go to Turin on the 14th after 15:00?", "label": "trains"}
    outer, inner = "call_c7d1a05522f84e90", "tool_search_code:call_c7d1a05522f84e90:sessions_spawn:1"
    wrapped = {"id": "sessions_spawn", "args": task}
    main.answers("", (outer, "tool_call", wrapped))
    main.begins(outer, "tool_call", wrapped)
    main.begins(inner, "sessions_spawn", task)
    accepted = {"status": "accepted", "childSessionKey": child.key, "runId": child_run, "mode": "run"}
    result = {"content": [{"type": "text", "text": json.dumps(accepted)}], "details": accepted}
    parent = {"runId": child_run, "childSessionKey": child.key, "requesterSessionKey": main.key}
    spawned = {
        "runId": child_run,
        "childSessionKey": child.key,
        "agentId": main.agent,
        "label": "trains",
        "requester": {},
    }
    day.after(140)
    day.say("subagent_spawned", parent, {**spawned, "threadRequested": False, "mode": "run"})
    nested = {"toolName": "sessions_spawn", **main.ids, "runId": main.run, "toolCallId": inner}
    said = {"toolName": "sessions_spawn", "params": task, "runId": main.run, "toolCallId": inner}
    day.after(6)
    day.say("after_tool_call", nested, {**said, "result": result, "durationMs": 171})
    main.finishes(outer, "tool_call", wrapped, result, 18)
    main.closes("I have sent somebody to look it up.", "telegram")
    asked = {"role": "user", "content": task["task"], "timestamp": day.now, "idempotencyKey": f"{child_run}:user"}
    child.writes(asked)
    day.after(300)
    child.uses("web_search", {"query": "trains Turin 14th after 15:00"}, "15:10 RE 4, 16:40 EC 37, 18:05 RE 8", 1480)
    child.closes("15:10 (2 h 05), 16:40 (1 h 20, reserved seats), 18:05 (2 h 05).")
    ended = {
        "targetSessionKey": child.key,
        "targetKind": "subagent",
        "reason": "subagent-complete",
        "sendFarewell": True,
    }
    day.say("subagent_ended", parent, {**ended, "runId": child_run, "endedAt": day.now, "outcome": "ok"})
    announce(day, main, "trains: 15:10, 16:40, 18:05")


def announce(day: Day, main: Session, words: str) -> None:
    """Bring the subagent's answer back, as a run of its own."""
    day.after(220)
    main.run = f"announce:v1:{day.id('announce')}"
    main.model_calls = 0
    main.writes(
        {"role": "user", "content": [{"type": "text", "text": f"[Subagent result] {words}"}], "timestamp": day.now}
    )
    main.closes("To Turin on the 14th: 15:10, 16:40 (fastest, seat needed) or 18:05.", "telegram")


def crash(day: Day, main: Session) -> None:
    """Lose power in the middle of a call; the gateway goes on by itself."""
    hours(day, 14, 15)
    day.clock("15:22")
    main.asks("Copy the photo archive to the backup disk.", "telegram")
    call, args = "call_photos_1", {"command": "rsync -a photos/ /mnt/backup/photos/"}
    main.answers("", (call, "exec", args))
    main.begins(call, "exec", args)
    day.clock("15:31:40")
    day.gateway_starts()
    day.after(2200)
    main.asks(
        "[System] Your previous turn was interrupted by a gateway restart. Continue where you left off.", owner=False
    )
    main.runs("rsync -a photos/ /mnt/backup/photos/", "sent 3,118 files", 94_000)
    main.closes("The machine restarted in between; the copy is complete now: 3,118 files.", "telegram")


def afternoon(day: Day, main: Session) -> None:
    """Run into a time limit, retry a model call, and begin anew."""
    hours(day, 16, 16)
    day.clock("16:40")
    main.asks("Check whether the shop answers from outside.", "telegram")
    main.thinks(4100, error="rate_limit")
    day.after(5000)
    main.runs("curl -m 120 https://shop.example/health", "", 30_000, code=124, timedOut=True, exitReason="timeout")
    main.runs("curl -m 5 https://shop.example/health", '{"status":"up","version":"2.8"}', 310)
    main.closes("It answers: up, version 2.8. The first try ran into its time limit.", "telegram")
    hours(day, 17, 17)
    day.clock("17:20")
    reset = {**main.ids, "workspaceDir": WORKSPACE}
    day.say("before_reset", reset, {"reason": "new", "messageCount": main.messages})
    day.after(4)
    main.ends("new")
    main.starts(resumedFrom=main.session_id)
    gone = {
        "targetSessionKey": main.key,
        "targetKind": "acp",
        "reason": "session-reset",
        "sendFarewell": True,
        "outcome": "reset",
    }
    day.say("subagent_ended", {"childSessionKey": main.key}, gone)
    main.messages = 0


def evening(day: Day, main: Session, press: Session) -> None:
    """Look after the post, let a job fail, and say good night."""
    hours(day, 18, 18)
    day.clock("18:12")
    press.asks("How is the post doing?", "discord")
    press.uses("social_stats", {"post": "88213"}, '{"views":1204,"replies":17}', 540)
    press.closes("1,204 views and 17 replies since this morning.", "discord")
    hours(day, 19, 20)
    day.clock("21:00")
    day.cron(
        "offsite-backup",
        "0 21 * * *",
        "mount: /mnt/offsite: connection timed out",
        30_400,
        "command exited with code 32",
    )
    hours(day, 21, 21)
    day.clock("22:48")
    main.asks("Anything left for tonight?", "telegram")
    main.closes("The offsite backup failed at 21:00, its disk did not answer. Everything else is done.", "telegram")
    day.clock("23:59:30")
    day.gateway_stops(main, press)


def the_day() -> Iterator[str]:
    """Yield the lines of the file."""
    day = Day()
    day.clock("00:00:30")
    day.gateway_starts()
    main, press = Session(day, "main"), Session(day, "press")
    morning(day, main)
    posts(day, press)
    deploy(day, main)
    noon(day, main)
    crash(day, main)
    afternoon(day, main)
    evening(day, main, press)
    for line in day.lines:
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    sys.stdout.write(f"{TARGET.write_text(''.join(the_day()), 'utf-8'):,} characters written to {TARGET.name}\n")
