"""Field cases of text: half characters, NUL bytes, bytes that are no UTF-8, images in text, lines of any length."""

from __future__ import annotations

import base64
import csv
import io
import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lab import NOON, Lab, call, hook, iso, message, text_result
from limpet import jsonline

ASCII_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}

TINY = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 16).decode()
"""4 KB of something that begins like a PNG image."""

MARKS = ("LLAMA31", "YAK", "IBEX", "GNU", "KOALA", "OKAPI", "TAPIR", "DINGO")


# Field case F26: half of a surrogate pair


def halves() -> list[dict]:
    """Return lines that hold half characters in every place that a text can stand."""
    return [
        call("c-1", 0, tool="grep", params={"pattern": "\udc00tail"}, result=text_result("cut \ud83d… LLAMA31"), error="half \ud83d"),
        call("c-2", 1, tool="grep", params={"\ud83d": ["\udfff"]}, result={"\udead": "\udbff"}),
        call("c-\ud83d", 2, tool="\ud83d", ctx={"sessionId": "s-\udc00", "agentId": "a\ud83d"}),
        hook("message_received", {"content": "\ud83d", "messageId": "\udc00"}, 3),
        hook("limpet_add", {"type": "\ud83d", "summary": "\udc00 YAK", "details": {"\ud83d": "\udc00"}, "tags": ["\ud83d"]}, 4),
        hook("hook\ud83d", {"x": "\ud83d"}, 5),
        call("c-9", 6),
    ]  # fmt: skip


def test_half_a_character_costs_nothing(lab: Lab):
    """Every record of the batch is stored, the words beside it are found, the chain holds (field case F26)."""
    assert len(lab.take(halves())) == 7
    assert [event.call for event in lab.found("LLAMA31")] == ["c-1"]
    assert len(lab.found("YAK")) == 1
    assert lab.verdict().faults == ()


def test_everything_that_is_said_of_half_a_character_is_valid(lab: Lab):
    """Every way out gives UTF-8, and JSON where it says so; processes fail to decode anything else here."""
    ids = [str(event.id) for event in lab.take(halves())]
    now = ("--now", iso(1000))
    assert len(lab.limpet("recent", "--json", *now).json["events"]) == 7
    assert len(list(csv.reader(io.StringIO(lab.limpet("recent", "--csv", *now).out)))) == 8
    assert [lab.limpet("show", ids[n], "--json").json["id"] for n in (0, 2)] == [ids[0], ids[2]]
    for arguments in (("recent", *now), ("show", ids[0]), ("session", "s-1"), ("status",), ("doctor",)):
        assert "\ufffd" not in lab.limpet(*arguments).out
    exported = lab.limpet("export").out.splitlines() + lab.limpet("export", "--records").out.splitlines()
    assert len([json.loads(line) for line in exported]) == 14


def test_half_a_character_is_kept_as_its_escape(lab: Lab):
    """The original can be told from what stands in the ledger."""
    lab.take(halves())
    event = lab.records()[0].body["event"]
    assert (event["params"]["pattern"], event["error"]) == ("\\udc00tail", "half \\ud83d")


def test_half_a_character_in_a_transcript_costs_nothing(lab: Lab):
    """The same for a file that is imported, and for the file's second import."""
    path = lab.file(
        "s-1.jsonl", [message(1, "user", "half \ud83d and LLAMA31", 1), message(2, "assistant", "whole 😀", 2)]
    )
    assert [lab.imported(path)["added"], lab.imported(path)["added"]] == [2, 0]
    assert [event.summary for event in lab.events("message")] == ["half \\ud83d and LLAMA31", "whole 😀"]


# Field case F27: NUL bytes


def with_nuls() -> list[dict]:
    """Return lines with NULs: between letters, as a long run, at the ends, in names and in what a person adds."""
    spread = "".join(f"{letter}\0" for letter in "Wsl")
    return [
        call("n-0", 0, params={"command": "cat /proc/1/cmdline"}, result="node\0server.js\0--port\x003000\0"),
        call("n-1", 0, params={"command": "w"}, result=text_result(f"{spread} failed IBEX")),
        call("n-2", 1, params={"command": "cat"}, result=text_result("before GNU " + "\0" * 10_291 + " after KOALA")),
        hook("message_received", {"content": "\0OKAPI\0 and more\0", "messageId": "m\0"}, 2),
        hook("limpet_add", {"type": "no\0te", "summary": "a\0TAPIR", "details": {"k\0": "\0v"}, "tags": ["\0"]}, 3),
        call("n\0-5", 4, tool="ex\0ec", ctx={"sessionId": "s\0", "runId": "\0"}),
        hook(
            "limpet_add", {"type": "note", "summary": "\0body:0000", "details": {"\0body:": "\0body:" + "ff" * 32}}, 5
        ),
    ]


@pytest.mark.parametrize("word", ["Wsl", "IBEX", "GNU", "KOALA", "OKAPI", "TAPIR", "server.js", "3000"])
def test_words_around_nul_bytes_are_found(lab: Lab, word: str):
    """Full text finds the words before and after NUL bytes, and the index is sound (field case F27)."""
    lab.take(with_nuls())
    assert len(lab.found(word)) == 1
    with lab.recording() as recording:
        recording.store.index.check()


def test_text_with_nul_bytes_comes_back_whole(lab: Lab):
    """The ledger holds each NUL, also at the beginning of a text and in what looks like a reference of ours."""
    lines = with_nuls()
    lab.take(lines)
    assert [line["event"] for line in lines] == [record.body["event"] for record in lab.records()]
    assert lab.verdict().faults == ()


def test_nul_bytes_cut_off_nothing_that_sqlite_reads(lab: Lab):
    """LIKE and length() stop at a NUL: so no text of the view holds one."""
    lab.take(with_nuls())
    look = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); rows = db.execute('SELECT summary, error, details, tags FROM events').fetchall();"
        "print(sum('\\0' in str(value) for row in rows for value in row),"
        " [db.execute('SELECT count(*) FROM events WHERE summary LIKE ?', (f'%{w}%',)).fetchone()[0] for w in ('OKAPI', 'more', 'TAPIR')])"
    )
    assert lab.code(look, str(lab.db)).out == "0 [1, 1, 1]\n"


@given(
    st.text(st.sampled_from("\0a\ud83d\udc00é \n\x1b"), max_size=30), st.text(st.characters(codec=None), max_size=30)
)
@example("\0body:" + "0" * 64, "\0")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_comes_back_from_the_ledger(tmp_path_factory: pytest.TempPathFactory, some: str, other: str):
    """As an argument, as a key, as a result, as a whole and as part of a long text."""
    lab = Lab(tmp_path_factory.mktemp("text"))
    event = {"params": {some: other, "k": [other]}, "result": some * 100 + other, "toolName": other, "toolCallId": some}
    lab.take([hook("after_tool_call", event)])
    (record,) = lab.records()
    assert record.body["event"] == jsonline.safe(json.loads(json.dumps(event)))


# Field case F30: bytes that are no UTF-8


def broken_file(lab: Lab) -> object:
    """Return a transcript with a bad line, CRLF, curly quotes, an emoji and a byte order mark in the middle."""
    bad = json.dumps(message(1, "toolResult", "caf@ @@ GNU", 1)).encode().replace(b"@", b"\xe9")
    clean = json.dumps(message(2, "user", "clean “quotes” 😀", 2), ensure_ascii=False).encode()
    marked = b"\xef\xbb\xbf" + json.dumps(message(3, "user", "with a mark", 3)).encode()
    header = json.dumps({"type": "session", "id": "s-30", "timestamp": iso()}).encode()
    return lab.file("s-30.jsonl", [header + b"\r\n", bad + b"\n", clean + b"\r\n", marked + b"\n"])


def test_bad_bytes_cost_no_line_and_are_flagged(lab: Lab):
    """Four records; bad bytes replaced and flagged, the rest exact, under an ASCII locale too (field case F30)."""
    done = lab.limpet("import", "--json", str(broken_file(lab)), **ASCII_LOCALE)
    assert (done.json["added"], done.json["rejected"]) == (4, 0)
    assert [event.summary for event in lab.events("message")] == ["clean “quotes” 😀", "with a mark"]
    (event,) = lab.found("GNU")
    assert event.flags == ("invalid_utf8",)
    assert lab.records()[1].body["event"]["message"]["content"] == "caf\ufffd \ufffd\ufffd GNU"


def test_the_locale_changes_nothing(lab: Lab, tmp_path_factory: pytest.TempPathFactory):
    """The same file under an ASCII locale and under UTF-8 gives the same records."""
    other = Lab(tmp_path_factory.mktemp("other"))
    lab.limpet("import", str(broken_file(lab)), **ASCII_LOCALE)
    other.limpet("import", str(broken_file(other)), LC_ALL="C.UTF-8")
    assert [record.id for record in lab.records()] == [record.id for record in other.records()]


def test_bad_bytes_in_the_spool_are_flagged(lab: Lab):
    """A hook line with bad bytes is stored, flagged, and its neighbours are exact."""
    line = json.dumps(hook("message_received", {"content": "na@ve GNU", "messageId": "m1"})).encode() + b"\n"
    lab.take([call("c-1"), line.replace(b"@", b"\xff\xfe"), call("c-2", 1)])
    (event,) = lab.found("GNU")
    assert (event.summary, event.flags) == ("na\ufffd\ufffdve GNU", ("invalid_utf8",))
    assert [event.flags for event in lab.events("tool_call")] == [(), ()]


@pytest.mark.parametrize("arguments", [("recent", "--now", iso(99)), ("recent", "--json", "--now", iso(99)), ("recent", "--csv", "--now", iso(99)), ("session", "s-1"), ("export",)])  # fmt: skip
def test_every_command_speaks_utf8_in_an_ascii_locale(lab: Lab, arguments: tuple[str, ...]):
    """The first accented letter ends no command."""
    lab.take([hook("message_received", {"content": "žluťoučký 😀", "messageId": "m1"})])
    done = lab.limpet(*arguments, **ASCII_LOCALE)
    assert (done.status, done.out.count("žluťoučký 😀")) == (0, 1), done.err


def test_an_event_added_in_an_ascii_locale_is_what_was_typed(lab: Lab):
    """Arguments are UTF-8 whatever the locale says."""
    done = lab.limpet("add", "décision", "café 😀", "--details", '{"clé":"ü"}', "--tag", "naïf", **ASCII_LOCALE)
    assert (done.status, done.out) == (0, "added décision: café 😀\n")
    (event,) = lab.events()
    assert (event.type, event.summary, event.details, event.tags) == ("décision", "café 😀", {"clé": "ü"}, ["naïf"])


# Field case F33: images in text


def shapes_of_an_image(data: str) -> list[object]:
    """Return the same image as results in the shapes that runtimes use."""
    return [
        {"content": [{"type": "image", "data": data, "mimeType": "image/png"}, {"type": "text", "text": "DINGO"}]},
        {"content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]},
        {"content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]},
        {"content": [{"type": "text", "text": f"![shot](data:image/png;base64,{data}) DINGO"}]},
        {"details": {"screenshot": data}, "content": []},
        json.dumps([{"type": "image", "data": data, "mimeType": "image/png"}]),
    ]


def test_an_image_is_not_kept_and_not_searched(lab: Lab):
    """Its type, size and hash stay, its bytes are nowhere in the database, the words beside it are found (F33)."""
    lab.take([call(f"i-{n}", n, tool="browser", result=shape) for n, shape in enumerate(shapes_of_an_image(TINY) * 2)])
    assert {"i-0", "i-3", "i-6", "i-9"} == {event.call for event in lab.found("DINGO")}
    text = jsonline.dump([record.body for record in lab.records()]).decode()
    assert TINY[:200] not in text
    assert lab.counts()["image"] >= 10
    assert lab.found(TINY[100:160]) == []


@pytest.mark.parametrize("shape", range(5))
def test_an_image_leaves_its_type_size_and_hash(lab: Lab, shape: int):
    """What is kept of it says what it was."""
    lab.take([call("i-1", result=shapes_of_an_image(TINY)[shape])])
    said = jsonline.dump(lab.records()[0].body).decode()
    assert "4104" in said or "4,104" in said
    assert "sha256" in said


def test_a_day_of_screenshots_needs_little_room(lab: Lab):
    """Two hundred screenshots of 100 KB take less than one."""
    big = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 400).decode()
    lab.take([call(f"i-{n}", n, result=shapes_of_an_image(big)[n % 3]) for n in range(200)])
    assert len(lab.events("tool_call")) == 200
    assert lab.db.stat().st_size + lab.db.with_name("agent_memory.search.db").stat().st_size < 100_000 * 6


def test_an_image_in_a_transcript_is_not_kept_either(lab: Lab):
    """Message content, tool result and details of a file that is imported."""
    block = {"type": "image", "data": TINY, "mimeType": "image/png"}
    path = lab.file("s-1.jsonl", [message(1, "user", [block, {"type": "text", "text": "look DINGO"}], 1), message(2, "toolResult", [block], 2, toolCallId="c-1")])  # fmt: skip
    lab.imported(path)
    assert TINY[:200].encode() not in lab.db.read_bytes()
    assert TINY[:200] not in jsonline.dump([record.body for record in lab.records()]).decode()
    assert len(lab.found("DINGO")) == 1


# Field case F34: lines of any length


LENGTHS = (
    65_535,
    65_536,
    65_537,
    131_072,
    1 << 20,
    (4 << 20) + 1,
    jsonline.MAX_LINE,
    jsonline.MAX_LINE + 1,
    17_000_000,
)


def long_line(length: int) -> bytes:
    """Return a hook line of exactly that many bytes with its newline."""
    head = json.dumps(call("l-1", tool="build", params={}, result="@")).encode()
    return head.replace(b"@", b"x" * (length - len(head))) + b"\n"


@pytest.mark.parametrize("length", LENGTHS)
def test_a_line_of_any_length_never_hides_the_next(lab: Lab, length: int):
    """Up to the stated maximum a line is stored whole; above it is refused and counted; the next always arrives (F34)."""
    line = long_line(length)
    assert len(line) == length
    lab.take([line, hook("message_received", {"content": "OKAPI", "messageId": "m1"}, 1)])
    assert len(lab.found("OKAPI")) == 1
    if length <= jsonline.MAX_LINE:
        assert len(lab.records()[0].body["event"]["result"]) == length - len(long_line(1000)) + len(json.loads(long_line(1000))["event"]["result"])  # fmt: skip
    else:
        (kept,) = lab.quarantined()
        assert f"{length:,} bytes" in kept["reason"]
    assert lab.left_in_spool() == []


@pytest.mark.parametrize("length", [65_537, jsonline.MAX_LINE + 2])
def test_a_long_line_in_a_file_never_hides_the_next(lab: Lab, length: int):
    """The same for `import`."""
    path = lab.file("hooks.jsonl", [call("c-0"), long_line(length), call("c-2", 2)])
    done = lab.imported(path)
    assert (done["added"], done["rejected"]) == ((3, 0) if length < jsonline.MAX_LINE else (2, 1))
    assert {"c-0", "c-2"} <= {event.call for event in lab.events()}


def test_a_long_line_that_is_still_being_written_is_waited_for(lab: Lab):
    """A line over the maximum without its end is neither refused nor passed while its producer lives."""
    path = lab.spool([])
    (path.parent / "producer.json").write_text("{}")
    path.write_bytes(long_line(jsonline.MAX_LINE + 100)[:-1])
    lab.drain()
    assert (lab.events(), lab.quarantined()) == ([], [])
    with path.open("ab") as file:
        file.write(b"\n" + json.dumps(call("after")).encode() + b"\n")
    lab.drain()
    assert [event.call for event in lab.events()] == ["after"]
    assert len(lab.quarantined()) == 1


def test_a_long_text_is_stored_once_however_often_it_is_said(lab: Lab):
    """Two witnesses and ten calls with the same output of 1 MB keep it once."""
    text = "".join(f"{n:06d} " for n in range(150_000))
    lab.take([call(f"c-{n}", n, result=text_result(text)) for n in range(10)])
    assert text == lab.records()[9].body["event"]["result"]["content"][0]["text"]
    assert lab.db.stat().st_size < 3_000_000
    assert lab.events()[0].at_ms == NOON
