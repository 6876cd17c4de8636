"""A real browser that looks at the page: Debian's Chromium, driven by Playwright. It notes what a page must never do."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

PATIENCE_MS = 60_000
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}

expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Look:
    """One reader with one window; `wrong` is every error on the console, dialog, and request that left this machine."""

    context: BrowserContext
    page: Page
    address: str
    wrong: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Go to a path of the page."""
        self.page.goto(self.address + path)
        return self.page


SHIFTS = """new PerformanceObserver((list) => { for (const e of list.getEntries())
    if (!e.hadRecentInput) window.shifted = (window.shifted ?? 0) + e.value; }).observe({type: "layout-shift", buffered: true})"""
"""Adds up how much of the page moved by itself (Layout Instability, W3C)."""

TOGETHER = {"light": {}, "dark": {"color_scheme": "dark"}, "phone": PHONE}
"""The looks in which each page must hold."""


def faults(look: Look, path: str) -> list[str]:
    """Return what is wrong with a page once all of it is there: what moved, what sticks out, what axe-core finds."""
    page = look.go(path)
    page.wait_for_load_state("load")
    page.wait_for_timeout(300)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    wrong = [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in ("serious", "critical")]
    if shifted := page.evaluate("window.shifted ?? 0"):
        wrong.append(f"moved by {shifted}")
    if not page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"):
        wrong.append("sticks out sideways")
    return wrong


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser; where there is none the test is skipped, and says so."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("there is no Chromium here (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@contextmanager
def looking(browser: Browser, link: str, **options: Any) -> Iterator[Look]:
    """Open a window of its own with the one-time link, and hold that nothing went wrong while it was open."""
    context = browser.new_context(**{"timezone_id": "Europe/Berlin", "locale": "en-GB", **options})
    context.set_default_timeout(PATIENCE_MS)
    look = Look(context, context.new_page(), link.partition("/enter")[0])
    _watch(look)
    look.context.add_init_script(SHIFTS)
    look.page.goto(link)
    look.page.wait_for_url("**/")
    try:
        yield look
        assert look.wrong == []
    finally:
        context.close()


def _watch(look: Look) -> None:
    def asked(request: Any) -> None:
        if not request.url.startswith(look.address):
            look.wrong.append(f"request to {request.url}")

    def said(message: Any) -> None:
        if message.type in ("error", "warning") and "status of 4" not in message.text:
            look.wrong.append(f"console: {message.text}")

    def dialogued(dialog: Any) -> None:
        look.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    look.context.on("request", asked)
    look.context.on("console", said)
    look.context.on("dialog", dialogued)
    look.context.on("weberror", lambda error: look.wrong.append(f"script: {error.error}"))
