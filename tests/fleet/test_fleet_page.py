"""The page of a fleet in a real browser: every page says what it knows of all machines, and where the rest is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browsing import TOGETHER, chromium, faults, looking
from lab import Lab, call, ended, hook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browsing import Look
    from postgres import Server

DAY = "2026-06-01"
PATHS = (f"/?day={DAY}", "/ask", f"/ask?q=failed tool calls on {DAY}", f"/ask?q=tool calls per tool on {DAY}", "/ask?q=faild",
         "/session/s-1", "/live", f"/notes?day={DAY}", "/health", "/nothing")  # fmt: skip


@pytest.fixture(scope="module")
def link(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Let two machines push a small day each, serve the page of their fleet, and give its link."""
    url = server.make("page")
    for number, name in enumerate(("attic", "cellar")):
        lab = Lab(tmp_path_factory.mktemp(name))
        ctx = {"sessionId": f"s-{number}", "sessionKey": f"agent:main:{name}"}
        lab.take([
            hook("session_start", {"sessionId": f"s-{number}"}, **ctx),
            hook("message_received", {"role": "user", "content": f"Please look after the {name}."}, 2, **ctx),
            call("c1", 5, params={"command": f"make {name}"}, error="disk full", ctx=ctx),
            call("c2", 50, params={"command": f"make {name}"}, ctx=ctx),
        ])  # fmt: skip
        assert lab.limpet("push", "--prepare", url).status == 0
        assert lab.limpet("push", "--as", name, url).status == 0
    process = lab.start("open", "--no-browser", "--json", "--db", url)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["link"]
    finally:
        process.terminate()
        ended(process)


@pytest.fixture(scope="module")
def look(link: str) -> Iterator[Look]:
    """Open a window on it; what a page must never do fails the tests at its end."""
    with chromium() as browser, looking(browser, link) as window:
        yield window


def test_today_has_the_day_of_all_machines(look: Look) -> None:
    """The failures of both stand there, each session has its card, and where the notes are is said."""
    page = look.go(f"/?day={DAY}")
    failures = page.get_by_role("list", name="What went wrong").get_by_role("listitem")
    expect(failures).to_have_count(2)
    expect(page.get_by_role("link", name="Please look after the attic.")).to_be_visible()
    expect(page.get_by_role("link", name="Please look after the cellar.")).to_be_visible()
    expect(page.get_by_text("Each machine of a fleet writes its own")).to_be_visible()


def test_a_session_and_its_events_can_be_looked_at(look: Look) -> None:
    """A failure of one machine is tied to the success there, opens in place, and its page names its record."""
    page = look.go("/session/s-1")
    failed = page.locator(".item").filter(has_text="make cellar").filter(has_text="failed")
    failed.locator("summary").click()
    expect(failed.locator("pre").first).to_contain_text("make cellar")
    failed.get_by_role("link", name="a later one succeeded").click()
    expect(page.locator(".item", has=page.locator(".row:focus"))).to_contain_text("succeeded")
    failed.get_by_role("link", name="Event").click()
    expect(page.get_by_role("heading", name="Which witness said what")).to_be_visible()


def test_the_notes_page_says_where_the_notes_are(look: Look) -> None:
    """Notes are each machine's own: the page names the machines and what to do there."""
    page = look.go(f"/notes?day={DAY}")
    expect(page.get_by_role("region", name="Each machine writes its own notes")).to_contain_text("attic, cellar")
    expect(page.get_by_role("region", name="Each machine writes its own notes")).to_contain_text("limpet open")
    expect(page.get_by_text("No brief was handed over on this day.")).to_be_visible()


def test_health_has_every_machine(look: Look) -> None:
    """Each machine stands there with what it last said of itself."""
    page = look.go("/health")
    machines = page.get_by_role("region", name="Machines").get_by_role("listitem")
    assert machines.locator("strong").all_inner_texts() == ["attic", "cellar"]
    expect(machines.first).to_contain_text("Last pushed")


@pytest.mark.parametrize("name", TOGETHER)
def test_nobody_is_kept_out_of_a_fleet(look: Look, name: str) -> None:
    """No page of it has a serious fault, moves, or sticks out: in light, dark, and on a phone's width."""
    look.page.emulate_media(color_scheme=TOGETHER[name].get("color_scheme", "light"))
    look.page.set_viewport_size(TOGETHER[name].get("viewport", {"width": 1280, "height": 720}))
    for path in PATHS:
        assert (path, []) == (path, faults(look, path))
