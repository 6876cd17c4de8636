"""Fixtures for tests on a real OpenClaw gateway; where there is no npm or no registry they skip and say so."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gateway import driving
from gateway.gateway import Gateway
from gateway.provider import Provider
from limpet.runtimes.openclaw import setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

INSTALL = Path(__file__).parents[2] / "tools" / "openclaw.sh"
NOT_HERE = 3


@pytest.fixture(scope="session")
def openclaw() -> Path:
    """Find the folder with OpenClaw and its Node, installing them if need be."""
    if given := os.environ.get("LIMPET_TEST_OPENCLAW"):
        return Path(given)
    done = subprocess.run([str(INSTALL)], capture_output=True, text=True, check=False)
    if done.returncode == NOT_HERE:
        pytest.skip(f"OpenClaw cannot be had here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """Serve the scripted model for the tests of one file."""
    with Provider() as running:
        yield running


@pytest.fixture(scope="module")
def new_gateway(
    openclaw: Path, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Gateway]]:
    """Make gateways, each with a HOME of its own and not yet started; all are stopped at the end."""
    with ExitStack() as stack:

        def make(sections: Mapping[str, Any] | None = None, **more: str) -> Gateway:
            home = tmp_path_factory.mktemp("home")
            return stack.enter_context(Gateway(home, openclaw, provider, more, dict(sections or {})))

        yield make


@pytest.fixture(scope="session")
def silent_day(openclaw: Path, tmp_path_factory: pytest.TempPathFactory) -> driving.Day:
    """Drive a busy day with the plugin that our set-up alone has configured, and with nobody who drains the spool."""
    with Provider() as provider, Gateway(tmp_path_factory.mktemp("silent"), openclaw, provider) as gateway:
        day = driving.Day(gateway, provider, gateway.config.read_bytes())
        setup.apply(setup.plan_setup(gateway.state, setup.plugin_folder(), driving.SIDECAR))
        day.configured = gateway.config.read_bytes()
        gateway.start()
        day.all_day()
        gateway.stop()
        return day
