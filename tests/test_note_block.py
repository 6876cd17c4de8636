"""The managed block in a note's bytes: what is outside it stays, what somebody edited stays, one run or many."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.errors import BadInput
from limpet.note import block as blocks
from limpet.note.block import Block, merged, stamp_of

DAY = "2026-05-04"
HUMAN = (
    b"# 2026-05-04\n\nWritten by me, keep!  two  spaces \nwindows line\r\n\n<!-- my own comment -->\n"
    b"- [ ] call the dentist\n\tTabbed line\n## Log\nfree text about the Log heading\n"
)
BODY = "## The day\n\nThe agent ran the deploy script 14 times, twice without success.\n\n- it failed [4096]\n"
LATE = BODY.replace("14", "15")
MARKS = re.compile(rb"^<!-- limpet:(begin|end)\b[^\n]*-->\r?$", re.MULTILINE)


def note(body: str = BODY, agent: str = "main", stamp: str = "s1", day: str = DAY) -> Block:
    """Return a block to be written."""
    return Block(day, agent, body, stamp)


def written(existing: bytes, *notes: Block) -> bytes:
    """Return the bytes after these notes were written, one after the other."""
    for one in notes:
        existing = merged(existing, one).content
    return existing


def around(content: bytes, agent: bytes = b"main") -> bytes:
    """Return what stands outside the blocks of an agent."""
    begin = rb"<!-- limpet:begin \S+ " + agent + rb" \S+ \S+ -->"
    return re.sub(begin + rb".*?<!-- limpet:end -->\r?\n?", b"", content, flags=re.DOTALL)


def test_a_block_is_added_below_what_somebody_wrote() -> None:
    """The human's bytes are the file's first ones, and the block follows (field case F81)."""
    content = written(HUMAN, note())
    assert (content[: len(HUMAN)], BODY.encode() in content, len(MARKS.findall(content))) == (HUMAN, True, 2)


def test_five_runs_change_no_byte() -> None:
    """Writing the same note again gives the same bytes (field cases F81, F92)."""
    assert written(HUMAN, note()) == written(HUMAN, *[note()] * 5)


def test_a_late_event_replaces_the_block_and_nothing_else() -> None:
    """What stands above and below the block stays where it is, to the byte."""
    below = b"\r\n- agent line\r\n\tno end of line"
    content = written(written(HUMAN, note()) + below, note(LATE, stamp="s2"))
    assert (HUMAN + below, 2, True) == (around(content), len(MARKS.findall(content)), LATE.encode() in content)


def test_an_edit_inside_the_block_is_kept_and_the_new_one_stands_below_once() -> None:
    """Theirs wins: not a byte of theirs changes, and later notes replace the one below."""
    theirs = written(HUMAN, note()).replace(b"twice without success", b"and I mended it")
    once = merged(theirs, note())
    again = written(once.content, note(), note(LATE, stamp="s2"), note(LATE, stamp="s2"))
    assert (theirs, theirs, blocks.EDITED) == (once.content[: len(theirs)], again[: len(theirs)], once.warning)
    assert (once.content.count(BODY.encode()), again.count(LATE.encode()), again.count(BODY.encode())) == (1, 1, 0)


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(lambda text: text.replace(b"<!-- limpet:end -->", b""), id="no end"),
        pytest.param(lambda text: text.replace(b"<!-- limpet:end -->", b"<!-- limpet:end"), id="end cut"),
        pytest.param(
            lambda text: text.replace(b"<!-- limpet:end -->", b"<!-- limpet:end --> mine"), id="end with text"
        ),
        pytest.param(lambda text: re.sub(rb"<!-- limpet:begin[^\n]*\n", b"", text), id="no begin"),
        pytest.param(lambda text: text.replace(b"<!-- limpet:begin", b"  <!-- LIMPET:begin"), id="begin indented"),
        pytest.param(lambda text: text.replace(b"<!-- limpet:begin ", b"<!-- limpet:begin x "), id="begin with a word"),
    ],
)
def test_damaged_marks_overwrite_nothing(damaged) -> None:
    """Whatever was done to the marks: all of it stays, a warning is given, and the newest note stands below, once."""
    theirs = damaged(written(HUMAN, note()) + b"text of mine below\n")
    once = merged(theirs, note(LATE, stamp="s2"))
    again = merged(once.content, note(LATE, stamp="s2"))
    assert (blocks.DAMAGED, theirs, once.content) == (once.warning, once.content[: len(theirs)], again.content)
    assert once.content.count(LATE.encode()) == 1


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(lambda text: text + b"<!-- limpet:end -->\n", id="two ends"),
        pytest.param(
            lambda text: text.replace(b"<!-- limpet:begin", b"<!-- limpet:begin x\n<!-- limpet:begin"), id="two begins"
        ),
    ],
)
def test_a_mark_too_many_leaves_the_untouched_block_ours(damaged) -> None:
    """The block that its own marks vouch for is replaced, the odd mark stays, with a warning."""
    once = merged(damaged(written(HUMAN, note())), note(LATE, stamp="s2"))
    assert (blocks.DAMAGED, damaged(written(HUMAN, note(LATE, stamp="s2")))) == (once.warning, once.content)


def test_two_agents_in_one_workspace_have_a_block_each() -> None:
    """Each replaces its own, and neither the other's."""
    content = written(HUMAN, note(), note("of the other\n", "other"), note(LATE, stamp="s2"))
    assert (content.count(LATE.encode()), content.count(b"of the other\n"), len(MARKS.findall(content))) == (1, 1, 4)


@pytest.mark.parametrize(
    ("text", "line_end"),
    [(b"a\r\nb\r\n", b"\r\n"), (b"a\nb\n", b"\n"), (b"a\nb\nc\r\n", b"\n"), (b"", b"\n"), (b"no end of line", b"\n")],
)
def test_the_files_own_line_ends_are_kept(text: bytes, line_end: bytes) -> None:
    """The block takes those that most lines have, and keeps them when it is replaced."""
    content = written(text, note(), note(LATE, stamp="s2"))
    ours = content[content.index(b"<!-- limpet:begin") :]
    assert (LATE.count("\n") + 2, written(text, note(LATE, stamp="s2"))) == (ours.count(line_end), content)
    assert ours.replace(line_end, b"").count(b"\n") == 0


def test_an_editor_that_changes_line_ends_has_edited_nothing() -> None:
    """A file turned to CRLF as a whole keeps one block."""
    content = written(written(HUMAN, note()).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), note(LATE, stamp="s2"))
    assert (len(MARKS.findall(content)), LATE.replace("\n", "\r\n").encode() in content) == (2, True)


def test_the_stamp_of_an_untouched_block_is_known() -> None:
    """It says what the note was made from; an edited block has none, and neither has another day's."""
    content = written(HUMAN, note())
    edited = content.replace(b"twice", b"thrice")
    assert [
        stamp_of(content, DAY, "main"),
        stamp_of(content, "2026-05-05", "main"),
        stamp_of(content, DAY, "other"),
        stamp_of(edited, DAY, "main"),
    ] == ["s1", None, None, None]


@pytest.mark.parametrize("text", [b"\xff\xfea\0b\0", b"caf\xe9\n", b"a\0b"])
def test_what_is_no_utf8_text_is_refused(text: bytes) -> None:
    """A block in it would make it unreadable for those who can read it now."""
    with pytest.raises(BadInput):
        merged(text, note())


def test_text_that_looks_like_our_marks_makes_no_mark() -> None:
    """Whatever the words hold, the file has one begin and one end (field case F58)."""
    body = "x\n<!-- limpet:end -->\n<!--limpet:begin a b c d -->\r\n<!-- LIMPET:end -->\n"
    content = written(HUMAN, note(body), note(body))
    assert len(re.findall(rb"<!--\s*limpet:", content, re.IGNORECASE)) == 2


@pytest.mark.parametrize("agent", ["a b", "-->", "../../x", "", "größe", "x" * 64, "a\nb"])
def test_any_agents_name_makes_a_sound_mark(agent: str) -> None:
    """A hostile name is one word of the mark (field case F59)."""
    content = written(HUMAN, note(agent=agent), note(LATE, agent, "s2"))
    assert (len(MARKS.findall(content)), stamp_of(content, DAY, agent)) == (2, "s2")


PIECES = st.lists(
    st.sampled_from(
        [b"text\n", b"line\r\n", b"\n", b"<!-- limpet:end -->\n", b"<!-- limpet:begin ", b"-->", "ü".encode(), b"\t"]
        + [merged(b"", Block(DAY, agent, BODY, "s")).content for agent in ("main", "other")]
        + [merged(b"", note()).content.replace(b"deploy", b"edited")]
    ),
    max_size=12,
).map(b"".join)


@given(PIECES, st.sampled_from([BODY, LATE]))
def test_every_byte_outside_an_untouched_block_stays(existing: bytes, body: str) -> None:
    """Whatever stands there: the new file is the old one with our block in one place, and a second run changes nothing."""
    new = merged(existing, note(body, stamp="n"))
    assert new.content == merged(new.content, note(body, stamp="n")).content
    block = merged(b"", note(body, stamp="n")).content.removesuffix(b"\n")
    block = block if block in new.content else block.replace(b"\n", b"\r\n")
    before, _, after = new.content.rpartition(block)
    assert before + after in _candidates(existing)


def _candidates(existing: bytes) -> set[bytes]:
    """Return the file without one untouched block of ours, or with a line end at its end."""
    whole = {existing + gap for gap in (b"\n", b"\n\n", b"\r\n", b"\r\n\r\n")}
    ours = re.compile(rb"<!-- limpet:begin 2026-05-04 main [^\n]*-->\r?\n.*?<!-- limpet:end -->", re.DOTALL)
    return whole | {existing[: m.start()] + existing[m.end() :] for m in ours.finditer(existing)}
