"""One real PostgreSQL for all tests of a fleet, and for each test a database of its own in it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from limpet.store.postgres import opening
from postgres import Server, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Run a server for the tests of this process."""
    with serving() as running:
        yield running


@pytest.fixture
def fleet(server: Server) -> str:
    """Return the name of a new database with a fleet in it."""
    name = f"fleet{next(_numbers)}"
    opening.prepare(server.make(name))
    return name
