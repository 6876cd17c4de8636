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

    from playwright.sync_api import Page

EVENTS = int(os.environ.get("LIMPET_TEST_EVENTS", "1000000"))
PATHS = ("/", "/?day=2026-05-20", "/ask", "/ask?q=failed tool calls since 2026-05-25", "/ask?q=failed tool calls", "/ask?q=target-5",
         "/ask?q=how many tool calls per tool", "/session/s-long", "/session/s-2000", "/notes?day=2026-05-20", "/health",
         "/live")  # fmt: skip
PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1"""


MOST_ITEMS = 800
"""So many events are in the page at most, however long the session is."""


def long_session(lab: Lab, calls: int, failing: set[int]) -> list[str]:
    """Record a session of so many calls, all in some minutes of one day; return the items that its timeline has."""
    lines = [call(f"c{n}", 50 * n + 5, params={"command": f"make {n if n not in failing else 'again'}"},
                  **({"error": "exit 2"} if n in failing else {})) for n in range(calls - 1)]  # fmt: skip
    lab.take(
        [
            hook("session_start", {"sessionId": "s-1"}),
            *lines,
            call("last", 50 * calls, params={"command": "make again"}),
        ]
    )
    return [f"e{event.id}" for event in sorted(lab.events(), key=lambda e: (e.at_ms, e.id))]


def walked(page: Page, key: str, end: str) -> list[str]:
    """Press a key until that end of the timeline is there; return the items in the order in which they came."""
    seen: dict[str, None] = {}
    while True:
        is_more = page.locator(f"a[rel={end}].more").count()
        items = page.locator("#timeline > .item").evaluate_all("all => all.map(one => one.id)")
        assert len(items) <= MOST_ITEMS
        seen.update(dict.fromkeys(items if key == "End" else reversed(items)))
        if not is_more:
            return list(seen)
        page.keyboard.press(key)
        page.wait_for_timeout(30)


def focused(page: Page) -> str:
    """Return the event that has the focus, "" where none has it."""
    return str(page.evaluate("document.activeElement.closest('.item')?.id ?? ''"))


def test_a_long_session_comes_as_one_scrolls(tmp_path: Path) -> None:
    """A session of two thousand events comes and goes as one scrolls: all of it, in order, a few hundred at a time."""
    lab = Lab(tmp_path)
    wanted = long_session(lab, 2000, set())
    with visiting(lab) as someone, chromium() as browser, looking(browser, someone.link) as look:
        page = look.go("/session/s-1")
        assert wanted == walked(page, "End", "next")
        assert wanted[::-1] == walked(page, "Home", "prev")
        assert (page.locator("#timeline > .day").count(), page.evaluate("window.shifted ?? 0")) == (1, 0)
        page.goto(f"{look.address}/session/s-1?from={wanted[700][1:]}")
        expect(page.locator(f"#{wanted[690]}")).to_be_attached()  # what stands before it came by itself
        expect(page.locator(f"#{wanted[700]}")).to_be_in_viewport()
        assert [wanted[700]] == page.locator(".wanted").evaluate_all("all => all.map(one => one.id)")


def test_the_keyboard_walks_over_the_end_of_what_is_shown(tmp_path: Path) -> None:
    """J goes on from event to event where a window ends, and k back; n and a tie reach what is far away."""
    lab = Lab(tmp_path)
    wanted = long_session(lab, 1500, {40, 1490})
    with visiting(lab) as someone, chromium() as browser, looking(browser, someone.link) as look:
        page = look.go("/session/s-1")
        page.locator(f"#{wanted[90]} summary").focus()
        for place in (*range(91, 230), *range(228, 180, -1)):
            page.keyboard.press("j" if focused(page) < wanted[place] else "k")
            expect(page.locator(f"#{wanted[place]} .row")).to_be_focused()
        page.goto(f"{look.address}/session/s-1?from={wanted[60][1:]}")
        page.keyboard.press("n")
        expect(page.locator(f"#{wanted[1491]} .row")).to_be_focused()
        expect(page.locator(f"#{wanted[1491]}")).to_be_in_viewport()
        page.locator(f"#{wanted[1491]}").get_by_role("link", name="after a failure").click()
        expect(page.locator(f"#{wanted[41]} .row")).to_be_focused()
        ties = page.locator(f"#{wanted[41]} .ties").get_by_role("link")
        assert ties.all_inner_texts() == ["tried again in vain ↓", "a later one succeeded ↓"]
        ties.last.click()
        expect(page.locator(f"#{wanted[-1]} .row")).to_be_focused()


@pytest.mark.soak
def test_twenty_thousand_events_of_a_session_stay_smooth(tmp_path: Path) -> None:
    """All can be reached with the keyboard, the page stays small, nothing moves, and a failure far away is one key."""
    lab = Lab(tmp_path)
    wanted = long_session(lab, 20_000, {19_989})
    with visiting(lab) as someone, chromium() as browser, looking(browser, someone.link) as look:
        page = look.go("/session/s-1")
        page.keyboard.press("n")
        expect(page.locator(f"#{wanted[19_990]} .row")).to_be_focused()
        expect(page.locator(f"#{wanted[19_990]}")).to_be_in_viewport()
        page.goto(f"{look.address}/session/s-1")
        assert wanted == walked(page, "End", "next")
        nodes, shifted = page.evaluate("[document.querySelectorAll('*').length, window.shifted ?? 0]")
        assert (nodes < 20 * MOST_ITEMS, shifted) == (True, 0)


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
    assert len(walked(page, "End", "next")) == crowd.LONG
    return time.monotonic() - began
