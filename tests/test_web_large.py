"""The page on a large memory: a million events, and a session of twenty thousand. Times are reported, not judged."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import crowd
from browsing import Look, chromium, looking
from lab import Lab, call, hook
from visitor import opened, visiting

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = int(os.environ.get("LIMPET_TEST_EVENTS", "1000000"))
PATHS = ("/", "/?day=2026-05-20", "/ask", "/ask?q=failed tool calls since 2026-05-25", "/ask?q=failed tool calls", "/ask?q=target-5",
         "/ask?q=how many tool calls per tool", "/session/s-long", "/session/s-2000", "/notes?day=2026-05-20", "/health",
         "/live")  # fmt: skip
PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1"""


def test_a_long_session_comes_as_one_scrolls(tmp_path: Path) -> None:
    """A session of a thousand events is shown a window at a time; at its end all of it is there, each event once."""
    lab = Lab(tmp_path)
    lab.take([hook("session_start", {"sessionId": "s-1"}), *(call(f"c{n}", 50 * n + 5) for n in range(1000))])
    wanted = [f"e{event.id}" for event in sorted(lab.events(), key=lambda e: (e.at_ms, e.id))]
    with visiting(lab) as someone, chromium() as browser, looking(browser, someone.link) as look:
        page = look.go("/session/s-1")
        assert page.locator("#timeline > .item").count() < len(wanted)
        while page.locator("#later").count():
            page.keyboard.press("End")
            page.wait_for_timeout(50)
        assert wanted == page.locator("#timeline > .item").evaluate_all("all => all.map(one => one.id)")
        page.goto(f"{look.address}/session/s-1?from={wanted[700][1:]}")
        expect(page.locator(f"#{wanted[700]}")).to_be_in_viewport()


@pytest.mark.soak
def test_a_million_events_can_be_looked_at(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every page can be read on a million events; the time to the first content of each is printed."""
    lab = Lab(tmp_path_factory.mktemp("million"))
    crowd.fill(lab, EVENTS)
    with lab.sidecar(), chromium() as browser, looking(browser, opened(lab).link) as look:
        times = {path: _painted(look, path) for path in PATHS}
        scrolled = _scrolled(look)
    with capsys.disabled():
        for path, ms in times.items():
            print(f"{ms:8.0f} ms to the first content of {path}")
        print(f"{scrolled:8.1f} s to scroll through 20,000 events")
    assert lab.verdict().events == EVENTS


def _painted(look: Look, path: str) -> float:
    page = look.go(path)
    expect(page.locator("h1").first).to_be_attached()
    page.wait_for_function(f"({PAINTED})() >= 0")
    return float(page.evaluate(PAINTED))


def _scrolled(look: Look) -> float:
    page = look.go("/session/s-long")
    began = time.monotonic()
    while page.locator("#later").count():
        page.keyboard.press("End")
        page.wait_for_timeout(20)
    assert page.locator("#timeline > .item").count() == crowd.LONG
    return time.monotonic() - began
