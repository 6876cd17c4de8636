"""The tools by which a model asks: their answers are exact, bounded, within their scope, and say what they leave out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import framed
from lab import NOON, call, entry, hook, iso, text_result
from limpet.memory import Memory
from limpet.model import Answer, Coverage, Gap, Query
from limpet.tools import Scope, run, tools
from limpet.tools.fitting import ROOM, fitted, page
from limpet.tools.heading import complete
from limpet.tools.reading import Reader, bodies

if TYPE_CHECKING:
    from lab import Lab

EVERYBODY = Scope()
LONGEST = 8192
DAY = "since:2026-06-01 until:2026-06-01"


def told(lab: Lab, tool: str, scope: Scope = EVERYBODY, **arguments: Any) -> str:
    """Return what a model gets from a tool."""
    with Memory(lab.settings) as memory:
        return run(memory, tool, arguments, scope).text


def code(lab: Lab, tool: str, scope: Scope = EVERYBODY, **arguments: Any) -> str:
    """Return the code of a tool's error."""
    with Memory(lab.settings) as memory:
        return run(memory, tool, arguments, scope).code


def test_every_tool_says_what_it_is_and_takes() -> None:
    """Four of them, each with a description and a closed schema, and each with a body."""
    assert list(tools()) == ["memory_ask", "memory_recent", "memory_session", "memory_show"]
    assert {one.parameters["additionalProperties"] for one in tools().values()} == {False}
    assert all(len(one.description) > 100 for one in tools().values())
    assert list(bodies(Reader(None, EVERYBODY))) == list(tools())  # type: ignore[arg-type]


def test_an_answer_is_the_one_of_the_command_line(lab: Lab) -> None:
    """The JSON in the frame is that of `limpet ask --json`, and the sentences give count, window, zone, completeness."""
    lab.take([call("c1", 5), call("c2", 6, result=None, error="no"), hook("message_received", {"content": "hi"}, 9)])
    question = f"type:tool_call {DAY}"
    given = told(lab, "memory_ask", question=question)
    assert lab.limpet("ask", "--json", question).json == framed.data(given)
    assert framed.said(given).startswith(
        "2 events. Window: 2026-06-01T00:00:00.000+00:00 to 2026-06-02T00:00:00.000+00:00 (UTC). Coverage unknown: "
    )


def test_times_are_the_users_with_their_offset(lab: Lab) -> None:
    """An event at 16:25 UTC is told at 01:25 in Tokyo, and the zone is named (field case F90)."""
    lab.take([call("c1", 15_900_000)])
    lab.home.mkdir(exist_ok=True)
    (lab.home / "config.toml").write_text('zone = "Asia/Tokyo"\n')
    given = told(lab, "memory_ask", question="type:tool_call on:2026-06-02")
    assert [event["time"] for event in framed.data(given)["events"]] == ["2026-06-02T01:25:00.000+09:00"]
    assert "(Asia/Tokyo)" in framed.said(given)


def test_the_pages_of_an_answer_are_all_of_it(lab: Lab) -> None:
    """Each says which part it is and where the next begins; together they hold every event once."""
    lab.take([call(f"c{n:03}", n, result=None, error="boom " * 90) for n in range(150)])
    offset, seen, pages = 0, [], 0
    while True:
        given = told(lab, "memory_ask", question=f"type:tool_call {DAY}", limit=100, offset=offset)
        shown = [event["call"] for event in framed.data(given)["events"]]
        seen, offset, pages = seen + shown, offset + len(shown), pages + 1
        assert framed.data(given)["count"] == 150
        assert len(given.encode()) <= LONGEST
        if f"offset {offset}." not in framed.said(given):
            break
    assert [f"c{n:03}" for n in reversed(range(150))] == seen
    assert pages > 10


def test_groups_have_pages_too(lab: Lab) -> None:
    """Two hundred tools are counted exactly, a part at a time."""
    lab.take([call(f"c{n}", n, tool=f"tool_{n:03}") for n in range(200)])
    first = told(lab, "memory_ask", question=f"type:tool_call {DAY} by:tool", limit=70)
    second = told(lab, "memory_ask", question=f"type:tool_call {DAY} by:tool", offset=150)
    names = [group["key"] for given in (first, second) for group in framed.data(given)["groups"]]
    assert [f"tool_{n:03}" for n in (*range(70), *range(150, 200))] == names
    assert "groups 1 to 70 of 200. For the next ones ask the same again with offset 70." in framed.said(first)
    assert "offset 200" not in framed.said(second)


def test_the_question_may_say_how_many(lab: Lab) -> None:
    """`limit:` and "the last two" hold, and a huge limit shows no more than has room."""
    lab.take([call(f"c{n}", n) for n in range(120)])
    counts = [
        len(framed.data(told(lab, "memory_ask", question=f"type:tool_call {DAY} {more}"))["events"])
        for more in ("limit:3", "take:2")
    ]
    assert counts == [3, 2]
    assert len(told(lab, "memory_ask", question=f"type:tool_call {DAY} limit:1000000").encode()) <= LONGEST


def test_the_newest_come_first_and_of_one_type_if_asked(lab: Lab) -> None:
    """`memory_recent` looks back so many hours."""
    lab.take([call("c1", 1), hook("message_received", {"content": "hi", "messageId": "m"}, 2), call("c2", 3)])
    given = framed.data(told(lab, "memory_recent", hours=1_000_000, type="tool_call", limit=1))
    assert (given["count"], [event["call"] for event in given["events"]]) == (2, ["c2"])


def test_a_session_is_told_oldest_first_with_its_span(lab: Lab) -> None:
    """The JSON is that of `limpet session --json`; count, window and completeness stand above it."""
    lab.take([call(f"c{n}", n * 1000) for n in range(3)])
    given = told(lab, "memory_session", session="agent:main:main")
    assert lab.limpet("session", "--json", "agent:main:main").json == framed.data(given)
    assert framed.said(given).startswith("3 events. Window: 2026-06-01T12:00:00.000+00:00 to 2026-06-01T12:00:02.001")
    page_two = framed.data(told(lab, "memory_session", session="s-1", offset=2))
    assert [event["call"] for event in page_two["events"]] == ["c2"]


def test_an_event_is_shown_in_full(lab: Lab) -> None:
    """The JSON is that of `limpet show --json`, also for a number that comes as a number."""
    (event,) = lab.take([call("c1", result=text_result("日本語の長い出力"))])
    shown = lab.limpet("show", "--json", str(event.id)).json
    assert [shown, shown] == [framed.data(told(lab, "memory_show", event=n)) for n in (event.id, str(event.id))]


def test_the_pages_of_a_long_event_are_all_of_it(lab: Lab) -> None:
    """A hundred thousand characters, with tags and emoji at the seams, come whole."""
    (event,) = lab.take([call("c1", result=text_result("<b>日本語 🦪 & co.</b>\n" * 5_000))])
    pieces, offset = [], 0
    while True:
        given = told(lab, "memory_show", event=event.id, offset=offset)
        piece = framed.parts(given)[1]
        pieces, offset = [*pieces, piece], offset + len(piece)
        assert len(given.encode()) <= LONGEST
        if f"It goes on with offset {offset}." not in framed.said(given):
            break
    assert lab.limpet("show", "--json", str(event.id)).json == json.loads("".join(pieces))
    assert code(lab, "memory_show", event=event.id, offset=offset) == "bad_input"


@pytest.mark.parametrize(
    ("tool", "arguments", "expected", "words"),
    [
        ("memory_ask", {}, "bad_input", "needs the argument 'question'"),
        ("memory_ask", {"question": "  "}, "bad_input", "1 to 4,000 characters"),
        ("memory_ask", {"question": "x" * 4_001}, "bad_input", "1 to 4,000 characters"),
        ("memory_ask", {"question": "errors", "since": "x"}, "bad_input", "takes no argument"),
        ("memory_ask", {"question": "errors", "limit": 0}, "bad_input", "from 1 to 100"),
        ("memory_ask", {"question": "errors", "limit": "many"}, "bad_input", "a whole number"),
        ("memory_ask", {"question": "errors", "limit": True}, "bad_input", "a whole number"),
        ("memory_ask", {"question": "errors", "limit": 1.5}, "bad_input", "a whole number"),
        ("memory_ask", {"question": ["errors"]}, "bad_input", "cannot be"),
        ("memory_ask", {"question": "failed tool cals yesterday"}, "not_understood", "failed tool calls yesterday"),
        ("memory_ask", {"question": "tool calls on 2026-02-30"}, "", ""),
        ("memory_recent", {"hours": 0}, "bad_input", "above 0"),
        ("memory_recent", {"hours": "nan"}, "bad_input", "above 0"),
        ("memory_session", {"session": "nowhere"}, "not_found", "no session"),
        ("memory_session", {"session": "s-1", "children": "yes"}, "bad_input", "true or false"),
        ("memory_show", {"event": "12x"}, "bad_input", "no event number"),
        ("memory_show", {"event": 99}, "not_found", "no event 99"),
        ("memory_forget", {}, "not_found", "The tools are: memory_ask"),
    ],
)
def test_what_a_tool_does_not_take_is_said_in_a_sentence(
    lab: Lab, tool: str, arguments: dict[str, Any], expected: str, words: str
) -> None:
    """The reason and what would be right come as an answer, framed like any other."""
    lab.take([call("c1")])
    with Memory(lab.settings) as memory:
        given = run(memory, tool, arguments)
    if not expected:
        assert given.code
        return
    error = framed.data(given.text)["error"]
    assert (expected, expected) == (given.code, error["code"])
    assert words in error["message"] + error["hint"]


@pytest.mark.parametrize("arguments", [[], "x", 5, None, {"question": None}, {1: 2}])
def test_arguments_of_any_shape_are_answered(lab: Lab, arguments: Any) -> None:
    """Nothing that a model sends is a crash."""
    lab.take([call("c1")])
    with Memory(lab.settings) as memory:
        assert run(memory, "memory_ask", arguments).code == "bad_input"


def test_numbers_as_text_and_text_as_numbers_are_taken(lab: Lab) -> None:
    """Models mix them up."""
    lab.take([call(f"c{n}", n) for n in range(3)])
    given = told(lab, "memory_recent", hours="1000000", limit="2", offset=1.0)
    assert [event["call"] for event in framed.data(given)["events"]] == ["c1", "c0"]


def test_without_a_memory_there_is_a_sentence(lab: Lab) -> None:
    """No database yet: what to do about it, and nothing is made."""
    error = framed.data(told(lab, "memory_ask", question="errors today"))["error"]
    assert (error["code"], "limpet setup openclaw" in error["hint"]) == ("no_database", True)
    assert not lab.state.exists()


def test_a_damaged_memory_is_a_sentence(lab: Lab) -> None:
    """A file that is no database is named as such."""
    lab.db.parent.mkdir(parents=True)
    lab.db.write_bytes(b"not a database" * 1000)
    assert code(lab, "memory_recent", hours=5) == "not_a_database"


TWO_AGENTS = [
    hook("message_received", {"content": "MARKER_A plan", "messageId": "p1"}, 1, agentId="alpha", sessionKey="agent:alpha:main", sessionId="s-a"),
    hook("message_received", {"content": "MARKER_B plan", "messageId": "p2"}, 2, agentId="beta", sessionKey="agent:beta:main", sessionId="s-b"),
    hook("message_received", {"content": "MARKER_U1 of one", "messageId": "p3"}, 3, agentId="alpha", sessionKey="agent:alpha:telegram:dm:111", sessionId="s-1"),
    hook("message_received", {"content": "MARKER_U2 of two", "messageId": "p4"}, 4, agentId="alpha", sessionKey="agent:alpha:telegram:dm:222", sessionId="s-2"),
    call("c-a", 5, tool="alphas_marker_tool", ctx={"agentId": "alpha", "sessionKey": "agent:alpha:main", "sessionId": "s-a"}),
    hook("gateway_start", {"port": 1}, 6, agentId="", sessionKey="", sessionId="", runId=""),
]  # fmt: skip
"""Two agents, two peers of one of them, and an event of nobody (field case F76)."""

MARKERS = ("MARKER_A", "MARKER_B", "MARKER_U1", "MARKER_U2", "alphas_marker_tool")


def everything_told(lab: Lab, scope: Scope) -> str:
    """Return all that every tool says to whoever has this scope: each question, each session, each event."""
    ids = [event.id for event in lab.events()]
    asked: list[tuple[str, dict[str, Any]]] = [
        *[("memory_ask", {"question": said}) for said in (
            "noise:yes", DAY, "MARKER_A", "MARKER_B", '"MARKER_U1"', "by:session", "by:agent", "count:agent", "by:tool",
            "agent:alpha", "-agent:beta", "type:message", "session:s-1", "alphas_marker_tool calls", "what did agent alpha do",
            "alphas_marker_tol calls today",
        )],
        ("memory_recent", {"hours": 1_000_000}),
        *[("memory_session", {"session": name, "children": True}) for name in (
            "s-a", "s-b", "s-1", "s-2", "agent:alpha:main", "agent:beta:main", "agent:alpha:telegram:dm:111"
        )],
        *[("memory_show", {"event": number}) for number in ids],
    ]  # fmt: skip
    with Memory(lab.settings) as memory:
        answers = [run(memory, tool, arguments, scope).text for tool, arguments in asked]
    without_questions = [json.loads(framed.parts(text)[1]) for text in answers]
    for one in without_questions:
        for key in ("question", "understood", "note", "error", "session"):
            one.pop(key, None)
    return json.dumps(without_questions)


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        (Scope("beta"), {"MARKER_B"}),
        (Scope("alpha"), {"MARKER_A", "MARKER_U1", "MARKER_U2", "alphas_marker_tool"}),
        (Scope("alpha", "agent:alpha:telegram:dm:111"), {"MARKER_U1"}),
        (Scope("beta", "agent:alpha:main"), set()),
        (Scope("gamma"), set()),
        (EVERYBODY, set(MARKERS)),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_each_sees_its_own_on_every_path_and_nothing_else(lab: Lab, scope: Scope, seen: set[str]) -> None:
    """Whatever an agent or a stranger asks, by words, filters, sessions or numbers (field cases F76, F89)."""
    lab.take(TWO_AGENTS)
    answers = everything_told(lab, scope)
    assert seen == {marker for marker in MARKERS if marker in answers}


def test_a_refusal_names_nothing_of_another_agent(lab: Lab) -> None:
    """The suggestion for a misspelt word comes from names that the asker may know."""
    lab.take(TWO_AGENTS)
    misspelt = "alphas_marker_tol calls"
    assert "alphas_marker_tool" in told(lab, "memory_ask", question=misspelt)
    assert "alphas_marker_tool" not in told(lab, "memory_ask", Scope("beta"), question=misspelt)


def test_a_refusal_does_not_tell_whether_another_agent_has_such_a_thing(lab: Lab) -> None:
    """What is another's is refused in the words of what is not there."""
    lab.take(TWO_AGENTS)
    its = next(event.id for event in lab.events() if event.agent == "alpha")
    for tool, key, there, nowhere in (
        ("memory_show", "event", str(its), "9999999"),
        ("memory_session", "session", "s-a", "nowhere"),
    ):
        refusals = [
            json.loads(framed.parts(told(lab, tool, Scope("beta"), **{key: name}))[1].replace(name, "X"))
            for name in (there, nowhere)
        ]
        assert refusals[0] == refusals[1]
        assert refusals[0]["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "question", ["agent:alpha", "agent:alpha,beta", "-agent:beta tool calls", "errors by agent alpha"]
)
def test_asking_for_another_agent_is_refused_and_no_zero(lab: Lab, question: str) -> None:
    """A zero would say that the other one did nothing."""
    lab.take(TWO_AGENTS)
    assert code(lab, "memory_ask", Scope("beta"), question=question) == "not_yours"


def test_an_answer_says_whose_it_is(lab: Lab) -> None:
    """What was understood names the agent; a sentence says that nothing else is shown."""
    lab.take(TWO_AGENTS)
    given = told(lab, "memory_ask", Scope("beta"), question=f"type:message {DAY}")
    assert framed.data(given)["understood"] == "type:message on:2026-06-01 agent:beta"
    assert "Only what belongs to this agent is shown" in framed.said(given)


def test_what_was_understood_can_be_asked_again(lab: Lab) -> None:
    """Typed again it is the same question, with the same answer."""
    lab.take(TWO_AGENTS)
    first = framed.data(told(lab, "memory_ask", Scope("beta"), question=f"type:message {DAY}"))
    second = framed.data(told(lab, "memory_ask", Scope("beta"), question=first["understood"]))
    same = ("window", "count", "events", "groups", "coverage")
    assert [first[key] for key in same] == [second[key] for key in same]
    assert first["count"] == 1


@pytest.mark.parametrize(
    ("question", "calls"),
    [
        ('"FAILED test_login"', ["ansi"]),
        ("数据库", ["cjk"]),
        ('"用户_id:42"', ["cjk"]),
        ('"C:\\x AND (it\'s) 100%"', ["odd"]),
        ('"a_b%c"', ["odd"]),
    ],
)
def test_any_words_are_found_as_they_were_said(lab: Lab, question: str, calls: list[str]) -> None:
    """Colours inside a word, text without spaces, signs that mean something elsewhere (field cases F29, F31, F49, F50)."""
    lab.take([
        call("ansi", 1, result=text_result("\x1b[31mFAI\x1b[0mLED test_login\x1b]0;x\x07")),
        call("cjk", 2, result=text_result("迁移数据库时用户_id:42丢失")),
        call("odd", 3, result=text_result("C:\\x AND (it's) 100% a_b%c")),
        call("plain", 4, result=text_result("aXbYc nothing")),
    ])  # fmt: skip
    given = told(lab, "memory_ask", question=f"{question} {DAY}")
    assert calls == [event["call"] for event in framed.data(given)["events"]]


def test_heartbeats_can_all_be_listed(lab: Lab) -> None:
    """Noise is folded elsewhere; a question for it gets every one (field case F77)."""
    beats = [hook("agent_end", {"success": True}, n, runId=f"r{n}", trigger="heartbeat") for n in range(30)]
    lab.take([*beats, call("real", 99)])
    assert framed.data(told(lab, "memory_ask", question=f"label:heartbeat type:run {DAY}", limit=1))["count"] == 30
    kept = framed.data(told(lab, "memory_ask", question=f"-label:heartbeat type:tool_call {DAY}"))
    assert [event["call"] for event in kept["events"]] == ["real"]


def test_an_older_fact_and_a_newer_one_both_come_with_their_dates(lab: Lab) -> None:
    """Newest first, so that the older one never stands alone or undated (field case F79)."""
    said = [(1, "the port is 8080"), (40 * 86_400_000, "the port is 9443")]
    lab.take([hook("limpet_add", {"type": "decision", "summary": text}, at) for at, text in said])
    given = framed.data(told(lab, "memory_ask", question='"the port" since:2026-06-01'))
    assert [(event["time"][:10], event["summary"]) for event in given["events"]] == [
        ("2026-07-11", "the port is 9443"),
        ("2026-06-01", "the port is 8080"),
    ]


MEGA = st.text(st.sampled_from('<&`"\\\n \u00e9\u65e5\U0001f9aa\x1b\u202ea'), max_size=3_000)


@settings(deadline=None)
@given(
    st.lists(st.fixed_dictionaries(dict.fromkeys(("summary", "error", "agent", "session", "tool"), MEGA)), max_size=6),
    MEGA,
)
def test_no_answer_is_longer_than_its_room(events: list[dict[str, str]], question: str) -> None:
    """Whatever the texts are, at least one event is shown, whole JSON (field case F75)."""
    found = fitted({"question": question, "understood": question, "events": events}, "events")
    assert len(found.payload.encode()) <= ROOM
    assert found.shown == len(json.loads(found.payload)["events"])
    assert found.shown >= min(1, len(events))


@settings(deadline=None)
@given(st.text(max_size=9_000))
def test_pages_of_any_text_join_to_it(text: str) -> None:
    """No character is cut in half or lost between two pages."""
    pieces, offset = [], 0
    while piece := page(text.encode("utf-8", "replace").decode(), offset):
        pieces.append(piece)
        offset += len(piece)
        assert len(piece.encode()) <= ROOM
    assert text.encode("utf-8", "replace").decode() == "".join(pieces)


def test_gaps_are_counted_where_not_all_are_listed() -> None:
    """Two hundred gaps take no more room than five."""
    gaps = tuple(Gap(NOON + n, NOON + n + 1, "openclaw.hooks", "dropped") for n in range(200))
    answer = Answer(Query(), 0, (), (), Coverage("partial", gaps))
    assert list(complete(answer.coverage, "UTC", 5)) == [
        "Coverage partial: something may be missing.",
        "Gaps: 200; 5 of them are listed.",
    ]


def test_a_blind_zero_is_called_blind(lab: Lab) -> None:
    """Numbers that were never seen make an answer partial, and where nobody watched it says so."""
    lines = [hook("limpet_beat", {}, n * 60_000) for n in (0, 1)]
    numbered = [
        {"v": 1, "id": f"{n:032x}", "producer": "p", "seq": n, **line} for n, line in zip((1, 5), lines, strict=True)
    ]
    lab.take([*numbered, entry("message", 1)], producer="p")
    given = told(lab, "memory_ask", question=f"errors since:{iso()} until:{iso(50_000)}")
    assert "Coverage partial: something may be missing." in framed.said(given)
    assert framed.data(given)["coverage"]["gaps"]
