"""Makes pictures of the page on the demo day: light, dark, and on a phone, into build/screenshots. Not a test.

`make screenshots` runs it; it also makes `docs/page.png`, which the README shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "screenshots"
LIMPET = [sys.executable, "-m", "limpet"]
LOOKS: dict[str, Any] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "device_scale_factor": 2},
}


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, str]]:
    """Play the demo day into a folder and serve it; give the link and the day."""
    state = folder / "state"
    env = {**os.environ, "HOME": str(folder), "OPENCLAW_STATE_DIR": str(state), "TZ": "Europe/Berlin"}
    demo = [*LIMPET, "demo", "--keep", str(state), "--tz", "Europe/Berlin", "--json"]
    day = json.loads(subprocess.run(demo, env=env, check=True, capture_output=True).stdout)["day"]
    command = [*LIMPET, "open", "--no-browser", "--json"]
    sidecar = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert sidecar.stdout is not None  # noqa: S101 - it was asked for
        yield json.loads(sidecar.stdout.readline())["link"], day
    finally:
        sidecar.terminate()
        sidecar.wait()


def pages_of(day: str) -> dict[str, str]:
    """Return the addresses that are shown, by the name of their picture."""
    return {
        "today": f"/?day={day}",
        "ask": f"/ask?q=tool calls on {day}",
        "groups": f"/ask?q=how many tool calls per tool on {day}",
        "refused": "/ask?q=failed tool cals yesterday",
        "session": "/session/agent:main:main",
        "live": "/live",
        "notes": f"/notes?day={day}",
        "brief": "/brief?agent=main",
        "health": "/health",
    }


def take(browser: Browser, look: str, link: str, day: str) -> None:
    """Take every picture in one look."""
    context = browser.new_context(timezone_id="Europe/Berlin", **LOOKS[look])
    page = context.new_page()
    page.goto(link)
    page.wait_for_url("**/")
    first = page.url
    for name, path in pages_of(day).items():
        page.goto(first.rstrip("/") + path)
        if name == "session":
            page.locator('[data-tone="bad"] summary').first.click()
            page.locator("[data-inside]").first.wait_for()
        page.screenshot(path=TARGET / f"{name}-{look}.png", full_page=name not in ("session", "live"))
    page.goto(first.rstrip("/") + f"/ask?q=type:tool_call status:failed on:{day}")
    page.locator(".lines .row").first.click()
    page.screenshot(path=TARGET / f"event-{look}.png", full_page=True)
    if look == "light":
        page.set_viewport_size({"width": 1080, "height": 800})
        page.goto(first.rstrip("/") + f"/?day={day}")
        page.screenshot(path=ROOT / "docs" / "page.png")
    context.close()


def main() -> None:
    """Take all pictures in all looks."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as (link, day), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for number, look in enumerate(LOOKS):
            take(browser, look, link if number == 0 else _again(folder), day)
        browser.close()
    print(f"{len(list(TARGET.glob('*.png')))} pictures in {TARGET}")


def _again(folder: str) -> str:
    """Return a new link to the page that is served."""
    env = {**os.environ, "HOME": folder, "OPENCLAW_STATE_DIR": f"{folder}/state"}
    command = [*LIMPET, "open", "--no-browser", "--json"]
    return str(json.loads(subprocess.run(command, env=env, check=True, capture_output=True).stdout)["link"])


if __name__ == "__main__":
    main()
