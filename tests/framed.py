"""Takes apart what a model is given by a memory tool: Limpet's own sentences, and the data in its frame. For tests."""

from __future__ import annotations

import json
import re
from typing import Any

FRAME = re.compile(
    r'(?s)(?P<said>.*)\n<limpet-memory id="(?P<id>[0-9a-f]{16})">\n(?P<data>.*)\n</limpet-memory id="(?P=id)">'
)


def parts(given: str) -> tuple[str, str]:
    """Return Limpet's sentences and the framed text; fails where it is not one frame with nothing after it."""
    found = FRAME.fullmatch(given)
    assert found, given
    return found["said"], found["data"]


def data(given: str) -> Any:
    """Return the framed JSON."""
    return json.loads(parts(given)[1])


def said(given: str) -> str:
    """Return Limpet's own sentences."""
    return parts(given)[0]
