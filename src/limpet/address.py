"""The address of a fleet: `postgresql://user@host/database?machine=NAME`. Pure; it connects to nothing."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

SCHEMES = ("postgresql://", "postgres://")
_PASSWORD = re.compile(
    r"(?<=//)([^:/@?\[]*):(?!\d*(?:/[^?@]*)?(?:\?|$))(.*)@|(?<=[?&])(password|sslpassword)=[^&]*", re.IGNORECASE
)
_CLEAN = re.compile(r"(?:[^@/?%\s]|%[0-9a-f]{2})*", re.IGNORECASE)


class Address(NamedTuple):
    """Where a fleet is: `url` is what the database's own client understands; `machine` is ours, "" for all."""

    url: str
    machine: str = ""


def is_address(value: str) -> bool:
    """Whether the value is the address of a fleet, not the path of a database."""
    return value.startswith(SCHEMES)


def parsed(value: str) -> Address:
    """Return the address without what is ours."""
    url, mark, query = value.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    machine = next((said for name, said in pairs if name == "machine"), "")
    rest = [(name, said) for name, said in pairs if name != "machine"]
    return Address(f"{url}{mark}{urlencode(rest)}" if rest else url, machine)


def has_password(value: str) -> bool:
    """Whether the address holds a password, which belongs elsewhere."""
    return any(found[2] or found[3] for found in _PASSWORD.finditer(value))


def is_clean(value: str) -> bool:
    """Whether a password before the host ends where it should; of another, some part would be taken for the host."""
    return all(_CLEAN.fullmatch(found[2] or "") for found in _PASSWORD.finditer(value))


def shown(value: str) -> str:
    """Return the address as it may be seen: without a password."""
    return _PASSWORD.sub(lambda found: f"{found[3]}=***" if found[3] else f"{found[1]}@", value)
