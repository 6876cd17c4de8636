"""One line of JSON in and out, whatever stands in it."""

import json
import math
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet import jsonline

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=30,
)
WILD = st.recursive(
    st.none() | st.floats() | st.integers() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=4),
    max_leaves=20,
)


def nested(depth: int, inner: str = "1") -> bytes:
    """Return a line whose part `deep` goes down that many levels, with keys on both sides of it."""
    return ('{"before":"KEPT1","deep":' + '{"a":' * depth + inner + "}" * depth + ',"after":"KEPT2"}\r\n').encode()


def reading(raw: bytes) -> tuple[str, object]:
    """Return the sentence of the refusal, "" if there is none, and the value."""
    try:
        return "", jsonline.parse(raw)
    except ValueError as error:
        return str(error), None


def depth_of(value: object) -> int:
    """Return how many levels of objects and lists a value has."""
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return depth


@given(JSON)
@settings(deadline=None)
def test_what_is_dumped_is_parsed_again_unchanged(value):
    """Any plain value survives the way out and in."""
    assert jsonline.parse(jsonline.dump(value)) == value


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_give_a_value_or_one_sentence(raw):
    """No bytes make it raise anything but ValueError."""
    said, value = reading(raw)
    assert said == "" or said.endswith(".")
    assert jsonline.parse(jsonline.dump(value)) == value


@given(WILD)
@settings(deadline=None)
def test_what_is_dumped_is_strict_whatever_is_given(value):
    """Python values with NaN and half surrogate pairs come out as strict JSON in UTF-8."""
    text = jsonline.dump(value).decode("utf-8")
    assert json.loads(text, parse_constant=pytest.fail) == jsonline.safe(value)


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_number_that_json_or_floats_do_not_know_stays_as_written(written):
    """Such numbers become strings, and nothing strict chokes on them (field case F39)."""
    value = jsonline.parse(f'{{"x":{written},"deep":{{"v":[1,{written}]}}}}'.encode())
    assert value == {"x": written, "deep": {"v": [1, written]}}
    assert jsonline.parse(jsonline.dump(value)) == value


def test_an_ordinary_fraction_stays_a_number():
    """0.1 is 0.1."""
    assert jsonline.parse(b'{"x":0.1}') == {"x": 0.1}


@pytest.mark.parametrize(
    "digits",
    [
        "1497549923779084388",
        "9007199254740993",
        "9223372036854775808",
        "-9223372036854775809",
        "1" + "0" * 40,
        "7" * 5000,
    ],
)
def test_every_digit_of_an_integer_is_kept(digits):
    """Integers of any size come back with every digit (field case F40)."""
    line = jsonline.dump(jsonline.parse(f'{{"id":{digits}}}'.encode()))
    assert digits in line.decode()


def test_bytes_that_are_not_utf8_become_replacement_characters():
    """A bad byte ends nothing (field case F30), and it can be told that it was there."""
    raw = b'{"content":"caf\xe9 GAMMA77"}'
    assert jsonline.parse(raw) == {"content": "caf\ufffd GAMMA77"}
    assert jsonline.has_bad_utf8(raw)
    assert not jsonline.has_bad_utf8('{"content":"café"}'.encode())


def test_a_byte_order_mark_and_a_carriage_return_are_no_part_of_the_line():
    """Windows files are read like any other (field case F30)."""
    assert jsonline.parse(b'\xef\xbb\xbf{"a":1}\r\n') == {"a": 1}


def test_half_a_surrogate_pair_becomes_its_escape_as_text():
    """It is stored, readable and reversible; whole pairs are the character they mean (field case F26)."""
    value = jsonline.parse(b'{"\\udc00tail":"half \\ud83d ZEBRA17","whole":"\\ud83d\\ude00"}')
    assert value == {"\\udc00tail": "half \\ud83d ZEBRA17", "whole": "😀"}
    assert jsonline.dump(value).decode("utf-8")


def test_nul_is_kept():
    """Text of Windows tools with NUL in it is not shortened (field case F27)."""
    assert jsonline.parse(b'{"t":"W\\u0000s\\u0000l OMEGA44"}') == {"t": "W\0s\0l OMEGA44"}


def test_a_raw_control_character_in_a_string_is_no_reason_to_lose_the_line():
    """A tab that was not escaped is read as a tab."""
    assert jsonline.parse(b'{"t":"a\tb\x01"}') == {"t": "a\tb\x01"}


def test_of_equal_keys_the_last_one_wins():
    """As in every other reader."""
    assert jsonline.parse(b'{"a":1,"a":2}') == {"a": 2}


@pytest.mark.parametrize("depth", [100, jsonline.MAX_DEPTH - 1])
def test_what_is_within_the_stated_depth_is_whole(depth):
    """One level is the line's own object."""
    assert jsonline.CUT not in jsonline.dump(jsonline.parse(nested(depth))).decode()


@pytest.mark.parametrize("depth", [jsonline.MAX_DEPTH, 992, 1000, 5000, 100_000])
def test_what_is_nested_too_deep_is_cut_with_a_mark(depth):
    """Never a crash; what stands beside the deep part is intact (field case F41)."""
    value = jsonline.parse(nested(depth, inner='"LOST"'))
    assert (value["before"], value["after"]) == ("KEPT1", "KEPT2")
    assert depth_of(value) == jsonline.MAX_DEPTH
    assert jsonline.CUT in jsonline.dump(value).decode()


def test_two_deep_parts_and_brackets_in_strings_are_told_apart():
    """Brackets inside strings nest nothing."""
    deep = "[" * 300 + '"]]]\\"]"' + "]" * 300
    value = jsonline.parse(f'{{"a":{deep},"b":"[[[","c":{deep}}}'.encode())
    assert value["b"] == "[[["
    assert depth_of(value["a"]) == depth_of(value["c"]) == jsonline.MAX_DEPTH - 1


def test_a_wide_value_is_not_taken_for_a_deep_one():
    """Many brackets beside each other are no depth."""
    assert jsonline.parse(b"[" + b"[]," * 500 + b"[]]") == [[]] * 501


def test_cutting_takes_time_in_proportion_to_the_line():
    """Eight times the depth takes about eight times as long, not sixty-four."""

    def seconds(depth: int) -> float:
        started = time.process_time()
        jsonline.parse(nested(depth))
        return time.process_time() - started

    small = min(seconds(50_000) for _ in range(5))
    large = min(seconds(400_000) for _ in range(2))
    assert large < 24 * small


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"   \n",
        b"{",
        b"[" * 100_000,
        b'"abc',
        b'{"a":1} x',
        b"\0\0\0",
        b"{'a':1}",
        b'{"a":' * 300 + b"}",
    ],
)
def test_what_is_no_json_is_refused_with_a_sentence(raw):
    """The reader says what is wrong, and where."""
    with pytest.raises(ValueError, match=r"^(Not JSON: |The line is empty).*\.$"):
        jsonline.parse(raw)


def test_a_line_past_the_limit_is_refused():
    """16 MiB is the most (field case F34)."""
    with pytest.raises(ValueError, match="16,777,216"):
        jsonline.parse(b'"' + b"x" * jsonline.MAX_LINE + b'"')


def test_a_line_of_many_megabytes_is_read_whole():
    """Up to the limit nothing is cut."""
    assert len(jsonline.parse(b'"' + b"x" * (jsonline.MAX_LINE - 2) + b'"')) == jsonline.MAX_LINE - 2


def test_keys_keep_their_order_and_the_canonical_form_sorts_them():
    """Two spellings of one value have one canonical form."""
    assert jsonline.dump({"b": 1, "a": "ü"}) == '{"b":1,"a":"ü"}'.encode()
    assert jsonline.canonical({"b": 1, "a": 2}) == jsonline.canonical({"a": 2, "b": 1}) == b'{"a":2,"b":1}'


def test_a_value_from_elsewhere_is_made_safe():
    """NaN, infinity, half pairs and depth are put as `parse` would put them."""
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    value = jsonline.safe({"n": math.nan, "i": math.inf, "s": "\ud800", "t": (1, 2), "deep": deep})
    assert {k: value[k] for k in "nist"} == {"n": "nan", "i": "inf", "s": "\\ud800", "t": [1, 2]}
    assert depth_of(value) == jsonline.MAX_DEPTH


def test_parsing_needs_nothing_else_of_ours():
    """It is the lowest floor: everybody may use it."""
    assert "from limpet" not in Path(jsonline.__file__).read_text("utf-8")
