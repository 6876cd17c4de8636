"""What people read of a text: cleaned, on one line, out of JSON of any shape, without images."""

import base64
import hashlib
import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet import jsonline, text

ESC, BEL, CSI = "\x1b", "\x07", "\x9b"
HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 12).decode()
PNG_SIZE, PNG_HASH = 8 + 256 * 12, hashlib.sha256(base64.b64decode(PNG)).hexdigest()
PLACEHOLDER = {"type": "image/png", "bytes": PNG_SIZE, "sha256": PNG_HASH}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=20,
)


def test_a_word_that_colour_codes_split_is_whole_again():
    """Titles, links, clipboard, clear screen, C1 sequences and backspaces are gone (field case F31)."""
    said = (
        f"{ESC}[31mFAI{ESC}[1mLED{ESC}[0m test_login\n{ESC}]0;pwned title{BEL}"
        f"{ESC}]8;;http://evil.test{BEL}click{ESC}]8;;{BEL}{ESC}]52;c;cm0gLXJm{BEL}{ESC}[2J{ESC}[H{CSI}31mc1 csi\r\b\bover"
    )
    assert text.clean(said) == "FAILED test_login\nclickc1 csi\nover"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("N\bNA\bAM\bME", "NAME"),
        ("ab\b\b\b\bc", "c"),
        ("line\n\b\bx", "line\nx"),
        ("a\r\nb\rc\x0bd\x85e\u2028f", "a\nb\nc\nd\ne\nf"),
        ("tab\tstays", "tab\tstays"),
        ("nul\0l \x7f\x1f", "null "),
        ("user\u202etxt.exe\u2066\u200e", "usertxt.exe"),
        ("zero\u200bwidth\u2060\ufeff\u00ad", "zerowidth"),
        ("tag\U000e0041\U000e0042 vs\ufe01", "tag vs"),
        (f"{ESC}]0;a title without an end", ""),
        (f"{ESC}]2;t{ESC}\\after", "after"),
        ("\x9d0;t\x9cafter", "after"),
        ("mojibake \x90 stays \x9d whole", "mojibake  stays  whole"),
        (f"{ESC}P1$r{ESC}\\x{ESC}(Bx{ESC}[38;5;12", "xx"),
        ("half \ud83d", "half \ufffd"),
    ],
)
def test_only_what_can_be_printed_is_left(said, left):
    """Each kind of hidden character and sequence is taken out, and nothing else."""
    assert text.clean(said) == left


@pytest.mark.parametrize("said", ["👨‍👩‍👧", "❤️", "می‌خواهم", "日本語", "e\u0301", "naïve “quotes” …", " "])
def test_what_spelling_needs_stays(said):
    """Joined emoji, Persian spelling, accents and no-break spaces are no tricks."""
    assert text.clean(said) == said


@given(st.text(st.characters(codec=None)))
@settings(deadline=None)
def test_nothing_hidden_is_left_of_any_text(said):
    """Neither ESC nor C0 nor C1 nor bidi controls, whatever came in; cleaning twice changes nothing."""
    cleaned = text.clean(said)
    assert not HIDDEN.search(cleaned)
    assert text.clean(cleaned) == cleaned


def test_newlines_become_spaces_where_they_are_not_wanted():
    """For one-line places."""
    assert text.clean("a\r\nb\nc", newlines=False) == "a b c"


@pytest.mark.parametrize(
    "unit", [f"{ESC}]", "\x90a", "a\b", "\u200d\ufe0f", f"{ESC}[31mred{ESC}[0m\n", "data:", "/9j/"]
)
def test_cleaning_takes_time_in_proportion_to_the_text(unit):
    """Eight times the text takes about eight times as long, not sixty-four."""

    def seconds(times: int) -> float:
        said = unit * times
        started = time.process_time()
        text.clean(said)
        text.without_images(said)
        return time.process_time() - started

    assert seconds(160_000) < 24 * min(seconds(20_000) for _ in range(5)) + 0.05


def test_one_line_folds_white_space_and_shows_its_cut():
    """The limit holds, the mark of the cut included."""
    assert text.one_line("  a \n\n b\t c ", 20) == "a b c"
    assert text.one_line("abcdefghij", 10) == "abcdefghij"
    assert text.one_line("abcdefghijk", 10) == "abcdefghi…"
    assert text.one_line("abcd efghij", 6) == "abcd…"
    assert text.one_line(" " * 100_000 + "late", 10) == "late"
    assert text.one_line("x" * 5_000_000, 5) == "xxxx…"


@pytest.mark.parametrize("said", ["abce\u0301def", "abc❤️def", "abc👍🏽def"])
def test_a_cut_never_goes_through_one_character_as_people_see_it(said):
    """An accent, a selector or a skin tone is never left without what it belongs to, nor parted from it."""
    assert text.one_line(said, 5) == "abc…"


@given(st.text(st.characters(codec=None)), st.integers(1, 50))
@settings(deadline=None)
def test_one_line_is_one_clean_line_within_its_limit(said, limit):
    """Whatever came in."""
    line = text.one_line(said, limit)
    assert len(line) <= limit
    assert "\n" not in line
    assert not HIDDEN.search(line)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("plain text RES00", "plain text RES00"),
        ([{"type": "text", "text": "RES01"}], "RES01"),
        ([{"type": "text", "text": "summary"}, {"type": "text", "text": "RES02"}], "summary\nRES02"),
        (["RES03", "tail"], "RES03\ntail"),
        ([None, {"type": "text", "text": "RES04"}], "RES04"),
        (None, ""),
        (42, "42"),
        (False, "false"),
        ({"rows": [{"name": "RES07", "size": 3, "ok": True}]}, "RES07"),
        ('[{"type":"text","text":"RES08"}]', "RES08"),
        ({"content": [{"type": "tool_result", "content": [{"type": "text", "text": "RES09"}]}]}, "RES09"),
        ("", ""),
        ([], ""),
        ([{"type": "thinking_v9", "payload": "RES12"}], "RES12"),
        ([{"type": "text"}], ""),
        ({"content": [{"type": "text", "text": "once"}], "details": {"aggregated": "once"}}, "once"),
        ('{"a": "no block"}', '{"a": "no block"}'),
        ('[{"type": broken', '[{"type": broken'),
        ('{"type": "text", "content": [{"type": "text", "text": "in"}]}', "in"),
    ],
)
def test_the_words_of_a_result_of_any_shape_are_found(result, words):
    """No part is overlooked, no shape raises (field case F35)."""
    assert text.plain(result) == words


@given(JSON)
@settings(deadline=None)
def test_no_value_makes_plain_raise(value):
    """Any JSON has its words; strings at the top are their own words."""
    assert isinstance(text.plain(value), str)
    assert isinstance(text.plain(jsonline.dump(value).decode()), str)


def test_words_leave_out_what_is_no_text():
    """Signatures, types and images are named at most."""
    blocks = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "Zm9v"},
        {"type": "image", "mimeType": "image/png", "data": PNG},
        {"type": "image", "mimeType": "image/png", "data": PLACEHOLDER},
        f"see data:image/png;base64,{PNG} there",
    ]
    assert text.plain(blocks) == "hm\n[image]\nsee [image] there"


@pytest.mark.parametrize(
    ("value", "lighter"),
    [
        (
            [{"type": "text", "text": "DELTA88"}, {"type": "image", "mimeType": "image/png", "data": PNG}],
            [
                {"type": "text", "text": "DELTA88"},
                {"type": "image", "mimeType": "image/png", "data": PLACEHOLDER},
            ],
        ),
        (
            {"source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"source": {"type": "base64", "media_type": "image/png", "data": PLACEHOLDER}},
        ),
        (
            {"image_url": {"url": f"data:image/webp;base64,{PNG}"}},
            {"image_url": {"url": PLACEHOLDER | {"type": "image/webp"}}},
        ),
        ({"copy": PNG}, {"copy": PLACEHOLDER}),
        ({"data": "QUJD" * 100}, {"data": {"type": "application/octet-stream", "bytes": 300}}),
        (f"<img src='data:image/png;base64,{PNG}'> DELTA88", None),
        (json.dumps({"text": "DELTA88", "data": PNG}), None),
        (json.dumps(json.dumps({"text": "DELTA88", "data": PNG})), None),
        (
            {"data": "\n".join(re.findall(".{1,76}", PNG)), "note": "DELTA88"},
            {"data": PLACEHOLDER, "note": "DELTA88"},
        ),
        (f"DELTA88 {PNG[:2000]}… (cut)", None),
    ],
)
def test_no_image_is_left_and_the_text_around_it_stays(value, lighter):
    """Every way to carry an image becomes its type, size and hash (field case F33)."""
    light, count = text.without_images(value)
    written = json.dumps(light)
    assert count == 1
    assert PNG[12:60] not in written
    assert "QUJDQUJDQUJD" not in written
    assert ("DELTA88" in written) == ("DELTA88" in json.dumps(value))
    assert lighter is None or _covers(light, lighter)
    assert text.without_images(light) == (light, 0)


def _covers(value: object, expected: object) -> bool:
    """Return whether a value has all that is expected, perhaps with more keys in its objects."""
    if isinstance(expected, dict) and isinstance(value, dict):
        return all(key in value and _covers(value[key], item) for key, item in expected.items())
    if isinstance(expected, list) and isinstance(value, list):
        return len(value) == len(expected) and all(map(_covers, value, expected))
    return value == expected


def test_the_same_image_has_the_same_hash_in_every_shape():
    """So that one can tell that it is the same, five times in two records."""
    shapes = [{"data": PNG}, f"data:image/png;base64,{PNG}", {"b": [f"x data:image/png;base64,{PNG}"]}]
    assert all(PNG_HASH in json.dumps(text.without_images(shape)[0]) for shape in shapes)


@pytest.mark.parametrize(
    "value",
    [
        {"data": "short"},
        {"data": hashlib.sha256(b"x").hexdigest()},
        {"data": {"rows": [1, None]}},
        {"image": "nginx:1.27"},
        "iVBORw0KGgo is how a PNG begins",
        "data:text/plain,hello",
        "x" * 3000,
        {"path": "/9j/photos/2026"},
        None,
        3,
    ],
)
def test_what_is_no_image_is_the_same_object_as_before(value):
    """Hashes, names and paths are not taken for files."""
    assert text.without_images(value) == (value, 0)
    assert text.without_images(value)[0] is value


@given(JSON)
@settings(deadline=None)
def test_taking_images_out_never_raises(value):
    """Any JSON may come."""
    assert text.without_images(value)[1] >= 0
