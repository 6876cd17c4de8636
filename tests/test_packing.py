"""How contents are compressed: what was written once can be read for ever."""

from __future__ import annotations

import hashlib
import json

import pytest
import zstandard

from lab import call
from limpet.store import packing

LINE = json.dumps(call("c-1"), separators=(",", ":")).encode()


def test_the_shapes_are_the_same_for_ever():
    """Contents of codec 2 can be read with these bytes alone: others would be another codec."""
    digest = hashlib.sha256(packing.SHAPES.read_bytes()).hexdigest()
    assert digest == "8c25b4db241247bf7701f87d11dd384ad9fd1bdc57b9719513f44d6798e500e6"


def test_a_hook_line_is_less_than_half_of_what_it_is_without_the_shapes():
    """Its names and forms stand in the dictionary."""
    codec, small = packing.compress(LINE)
    assert (codec, packing.decompress(codec, small)) == (packing.SHAPED, LINE)
    assert len(small) * 2 < len(zstandard.compress(LINE, 3))


@pytest.mark.parametrize("codec", [packing.RAW, packing.ZSTD])
def test_what_was_stored_in_another_form_can_be_read(codec: int):
    """As it is, and as zstd without a dictionary: older memories hold both."""
    stored = LINE if codec == packing.RAW else zstandard.compress(LINE, 3)
    assert packing.decompress(codec, stored) == LINE


@pytest.mark.parametrize("codec", [3, -1, 99])
def test_a_form_that_nobody_knows_is_damage(codec: int):
    """It is said, not guessed."""
    with pytest.raises(ValueError, match="unknown codec"):
        packing.decompress(codec, LINE)
