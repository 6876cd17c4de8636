"""The page beside a real gateway: what its agent does appears in a browser by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from browsing import chromium, looking
from limpet import door, settings
from limpet.runtimes.openclaw import setup

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.gateway import Gateway

pytestmark = pytest.mark.gateway


@pytest.fixture(scope="module")
def gateway(new_gateway: Callable[..., Gateway]) -> Gateway:
    """Start a gateway with the plugin as our set-up leaves it: it keeps the sidecar running."""
    made = new_gateway()
    command = [sys.executable, "-m", "limpet", "run", "--until-eof"]
    setup.apply(setup.plan_setup(made.state, setup.plugin_folder(), command))
    made.start()
    return made


def link_of(gateway: Gateway) -> str:
    """Return a one-time link, as `limpet open` prints it, once the plugin's own sidecar runs."""
    env = {**gateway.env, "OPENCLAW_STATE_DIR": str(gateway.state)}
    socket = settings.load(environment=env).socket
    gateway.wait_for(lambda: door.ask(socket, {"op": "hello"}, 5.0), "the sidecar answers")
    command = [sys.executable, "-m", "limpet", "open", "--no-browser", "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["link"])


@pytest.mark.soak
def test_what_the_agent_does_appears_in_the_browser(gateway: Gateway) -> None:
    """A turn of a real agent comes into an open page by itself: what was asked, the call, its failure, the answer."""
    with chromium() as browser, looking(browser, link_of(gateway)) as look:
        page = look.go("/live")
        expect(page.get_by_role("status")).to_contain_text("Listening")
        gateway.turn("Please DO:fail now", check=False)
        rows = page.locator("#live > li")
        expect(rows.filter(has_text="Please DO:fail now").first).to_be_visible()
        expect(rows.filter(has=page.locator(".kind-tool_call")).filter(has_text="failed").first).to_be_visible()
        page.goto(look.address + "/health")
        expect(page.get_by_role("region", name="Recording")).to_contain_text("Limpet is recording.")
        expect(page.get_by_role("listitem").filter(has_text="hooks").first).to_contain_text(
            "a gateway runs with the plugin in it"
        )
