"""Questions: plain English and filters give the same Query, every word is understood, and what was is said."""

from __future__ import annotations

import contextlib
import re
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet import days
from limpet.errors import BadInput, NotUnderstood
from limpet.model import STATUSES, TRUSTS, TYPES, Query
from limpet.question import parse, print_query
from limpet.question.refusal import TRY
from limpet.question.vocabulary import CLOSING, DEEDS, FILLER, FILTER_NAMES, IMPLYING, OPENING
from question_forms import NOW, Form, answer, at, expected, forms, raw_events
from question_noise import fuzzed, ignored
from question_tables import ASKED, BERLIN, NEAREST, OTHER_DAYS, REFUSED, WINDOWS

NOW_MS = at(NOW)
MUCH_LATER_MS = NOW_MS + 200 * 86_400_000
NAMES = {"tool": {"exec", "read", "find"}, "agent": {"night", "desk", "main"}, "session": {"main", "a", "b"}}


def ask(question: str, now: str = NOW, zone: str = BERLIN) -> Query:
    """Return the question, understood."""
    return parse(question, at(now), zone)


def refused(question: str, now: str = NOW) -> NotUnderstood:
    """Return the refusal of a question."""
    with pytest.raises(NotUnderstood) as refusal:
        ask(question, now)
    return refusal.value


@pytest.mark.parametrize(("question", "understood"), ASKED)
def test_a_question_is_understood_as_its_filter_form_says(question: str, understood: str) -> None:
    """What was understood is repeated in filter form."""
    assert understood == ask(question).understood


@pytest.mark.parametrize(("question", "understood"), ASKED)
def test_the_filter_form_is_the_same_question_also_much_later(question: str, understood: str) -> None:
    """It can be typed again at any time and means the same instants."""
    assert ask(question) == parse(understood, NOW_MS, BERLIN) == parse(understood, MUCH_LATER_MS, BERLIN)


FORMS = list(forms())


@pytest.fixture(scope="module")
def events() -> list[dict[str, object]]:
    """Return the events that all forms are asked about."""
    return raw_events()


@pytest.mark.parametrize("form", FORMS, ids=[form.question for form in FORMS])
def test_the_answer_is_what_the_english_says(form: Form, events: list[dict[str, object]]) -> None:
    """The events, groups and numbers of a question are those counted by brute force from the English."""
    assert expected(form, events) == answer(ask(form.question), events)


@pytest.mark.parametrize("form", FORMS, ids=[form.question for form in FORMS])
def test_a_form_printed_and_parsed_again_is_the_same_query(form: Form) -> None:
    """Both faces give the same Query."""
    query = ask(form.question)
    assert query == parse(query.understood, NOW_MS, BERLIN) == parse(query.understood, MUCH_LATER_MS, BERLIN)


def test_the_forms_are_many_and_most_of_them_find_something(events: list[dict[str, object]]) -> None:
    """An expectation of nothing would show little."""
    found = [form for form in FORMS if expected(form, events).count]
    assert len(FORMS) > 600
    assert len(found) > 400


@pytest.mark.parametrize(("said", "since", "until"), WINDOWS)
def test_a_window_is_what_its_words_say(said: str, since: str | None, until: str) -> None:
    """Asked on Monday, 26 October 2026 at 9:00 in Berlin, the day after the clocks went back."""
    query = ask(f"errors {said}")
    assert (since and at(since), at(until)) == (query.since_ms, query.until_ms)


@pytest.mark.parametrize(("said", "now", "zone", "since", "until", "hours"), OTHER_DAYS)
def test_windows_follow_the_local_day_of_their_zone(
    said: str, now: str, zone: str, since: str, until: str, hours: float
) -> None:
    """Days of 23 and 25 hours, days without midnight, a day that never was; the process zone plays no part (F20, F21)."""
    query = ask(f"errors {said}", now, zone)
    assert (at(since), at(until)) == (query.since_ms, query.until_ms)
    assert hours * 3_600_000 == at(until) - at(since)
    assert query == parse(query.understood, at(now), zone)


@pytest.mark.parametrize(("question", "code", "part"), REFUSED, ids=[one[0][:60] for one in REFUSED])
def test_what_is_not_understood_is_refused_with_the_part_and_a_question_that_works(
    question: str, code: str, part: str
) -> None:
    """Never half an answer: the part is named, exit status 2, and the question that is suggested is understood."""
    refusal = refused(question)
    assert (code, 2) == (refusal.code, refusal.exit_status)
    assert part in refusal.message
    assert len(refusal.message) + len(refusal.hint) < 900
    assert ask(refusal.hint.partition(TRY)[2]).understood


@pytest.mark.parametrize(("question", "suggested"), NEAREST)
def test_the_nearest_question_that_works_is_suggested(question: str, suggested: str) -> None:
    """A slip of the pen is mended, an unknown word looked for as text, a command left out."""
    assert suggested == refused(question).hint.partition(TRY)[2]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("insurance", ("insurance",)),
        ("travel insurance", ("travel", "insurance")),
        ("数据库", ("数据库",)),
        ("naïve Größe", ("naïve", "Größe")),
        ("ask-codex", ("ask-codex",)),
        ("src/app.py:42", ("src/app.py:42",)),
        ("https://example.test/a?b=c&d=e*", ("https://example.test/a?b=c&d=e",)),
        ("^flaky", ("flaky",)),
        ("flaky*", ("flaky",)),
        ("-restart", ("restart",)),
        ("--force", ("--force",)),
        ("-v", ("v",)),
        ("rm -rf", ("rm -rf",)),
        ("git push --force origin", ("git push --force origin",)),
        ("grammar::fa", ("grammar::fa",)),
        ("C:\\build\\out", ("C:\\build\\out",)),
        ("TODO: fix", ("TODO", "fix")),
        ("NOT gate", ("NOT", "gate")),
        ("a AND b", ("a", "AND", "b")),
        ("don't", ("don't",)),
        ("20.04", ("20.04",)),
        ("100%", ("100%",)),
        ("C++", ("C++",)),
        ("*", ("*",)),
        ("foo\0bar", ("foo", "bar")),
        ("' OR '1'='1", ("'", "OR", "'1'='1")),
        ("refund?", ("refund",)),
    ],
)
def test_bare_words_that_the_grammar_does_not_know_are_a_text_search_that_says_so(
    question: str, words: tuple[str, ...]
) -> None:
    """Any text of a user is safe: it is words, never an expression (field case F49)."""
    query = ask(question)
    assert words == query.words
    assert query.note.startswith("Taken as a search for the text")


@pytest.mark.parametrize(
    ("question", "words", "without"),
    [
        ('"travel insurance"', ("travel insurance",), ()),
        ("“travel insurance”", ("travel insurance",), ()),
        ("'travel insurance'", ("travel insurance",), ()),
        ('"never closed', ("never closed",), ()),
        ('"say ""hi"" twice"', ('say "hi" twice',), ()),
        ("type:run -restart", (), ("restart",)),
        ('"disk full" -restart', ("disk full",), ("restart",)),
        ("exec calls -restart", (), ("restart",)),
        ("tool:exec rm -rf", ("rm -rf",), ()),
        ("messages containing rm -rf yesterday", ("rm -rf",), ()),
        ("search for git push --force", ("git push --force",), ()),
        ('backup -"dry run"', ("backup",), ("dry run",)),
        ('"failed yesterday"', ("failed yesterday",), ()),
        ('messages with the text "a, b"', ("a, b",), ()),
        ("messages about travel insurance yesterday", ("travel", "insurance"), ()),
        ("messages containing refund two days ago", ("refund",), ()),
        ("messages not containing refund", (), ("refund",)),
        ('containing "a" and "b"', ("a", "b"), ()),
        ("search for refund in the last 3 days", ("refund",), ()),
    ],
)
def test_phrases_words_and_exclusions_are_full_text(
    question: str, words: tuple[str, ...], without: tuple[str, ...]
) -> None:
    """Quoted phrases stay whole, words are joined by AND, `-` excludes."""
    query = ask(question)
    assert (words, without) == (query.words, query.without)


KNOWN_NAMES = [
    ("what agent night did on 2026-10-25", "is:deed agent:night on:2026-10-25"),
    ("errors in exec yesterday", "is:error tool:exec on:2026-10-25"),
    ("desk errors yesterday", "is:error agent:desk on:2026-10-25"),
    ("tool calls by night yesterday", "type:tool_call agent:night on:2026-10-25"),
    ("did exec fail yesterday", "status:failed,timed_out tool:exec on:2026-10-25"),
    ("did the agent night fail yesterday", "status:failed,timed_out agent:night on:2026-10-25"),
    ("was the tool exec used yesterday", "type:tool_call tool:exec on:2026-10-25"),
    ("did the backup run yesterday", '-type:delivery,message "backup" on:2026-10-25'),
    ("EXEC calls yesterday", "type:tool_call tool:exec on:2026-10-25"),
    ("tool calls by agent nowhere yesterday", "type:tool_call agent:nowhere on:2026-10-25"),
    ("search_web calls yesterday", "type:tool_call tool:search_web on:2026-10-25"),
]


@pytest.mark.parametrize(("question", "understood"), KNOWN_NAMES)
def test_names_that_the_store_knows_are_understood(question: str, understood: str) -> None:
    """A tool or an agent is known by its name alone; anything else is a text or refused."""
    assert understood == parse(question, NOW_MS, BERLIN, NAMES).understood


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("phone calls yesterday", '"phone"'),
        ("errors in nowhere", '"in nowhere"'),
        ("errors in main", '"main" is known as agent and as session'),
    ],
)
def test_a_name_that_the_store_does_not_know_or_knows_twice_is_refused(question: str, part: str) -> None:
    """With the store's names at hand nothing is guessed."""
    with pytest.raises(NotUnderstood) as refusal:
        parse(question, NOW_MS, BERLIN, NAMES)
    assert part in refusal.value.message


@pytest.mark.parametrize(
    ("question", "remark"),
    [
        ("tool:exce", "No tool 'exce' is known (nearest: exec)."),
        ("tool calls by agent nigth", "No agent 'nigth' is known (nearest: night)."),
        ("agent:unknown", ""),
        ("errors before 9:40", "'before 9:40' names no day: 2026-10-26 is meant."),
        ("what happened first thing this morning", "'first thing' names no time: all of the window is meant."),
        ("the first thing the agent did yesterday", ""),
        ("errors tomorrow", "'tomorrow' has not come yet: the window is empty."),
        ("did the backup run", 'Taken as a search for the text "backup".'),
        ("errors yesterday between 2:30 and 2:45",
         "On 2026-10-25 clocks showed 02:45 twice: the first is meant, +02:00."),
        ("errors yesterday between 2:00 and 3:00", ""),
        ("errors since:2026-10-25T02:30:00+02:00 until:2026-10-25T02:45:00+02:00", ""),
    ],
)  # fmt: skip
def test_what_had_to_be_decided_is_said(question: str, remark: str) -> None:
    """Nothing is assumed in silence."""
    assert remark == parse(question, NOW_MS, BERLIN, NAMES).note


def test_a_bare_word_taken_for_a_name_is_said() -> None:
    """Without the store's names "exec calls" is understood all the same."""
    assert ask("exec calls").note == '"exec" is taken as the name of a tool.'


@pytest.mark.parametrize("said", ["today at 2:30", "at 2:30", "last night at 2:30", "today between 2:00 and 3:00"])
def test_an_hour_that_clocks_left_out_is_said_to_be_none(said: str) -> None:
    """On the day when they were put forward; a zero would say that all was well then."""
    with pytest.raises(NotUnderstood, match="on 2026-03-29: they were put forward"):
        parse(f"errors {said}", at("2026-03-29T09:00:00+02:00"), BERLIN)


def test_an_unknown_zone_is_bad_input() -> None:
    """The zone is not part of the question."""
    with pytest.raises(BadInput, match="There is no time zone"):
        parse("errors", NOW_MS, "Europe/Atlantis")


@pytest.mark.parametrize(
    "question",
    ["errors", "errors today", "errors in 2030", "errors since tomorrow", "until:2030-01-01", "errors tonight"],
)
def test_a_window_never_reaches_past_now(question: str) -> None:
    """What has not happened is not asked about."""
    assert ask(question).until_ms <= NOW_MS
    assert (ask(question).since_ms or 0) <= NOW_MS


# The filter form, from any Query.

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=12).map(
    lambda text: " ".join(re.sub("[\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02]", "", text).split())
)
TEXTS = st.lists(WORDS.filter(bool), max_size=3, unique=True).map(tuple)
VALUES = {
    "type": st.sampled_from(TYPES) | WORDS.filter(lambda word: bool(word) and word.lower() not in TYPES),
    "is": st.sampled_from(["error", "deed"]),
    "status": st.sampled_from(STATUSES),
    "trust": st.sampled_from(TRUSTS),
    **dict.fromkeys(("tool", "agent", "session", "run", "call", "actor", "source", "label"), WORDS.filter(bool)),
}


@st.composite
def queries(draw: st.DrawFn) -> Query:
    """Return any Query that a question can have."""
    filters = []
    for name in FILTER_NAMES:
        if name in VALUES and draw(st.integers(0, 5)) == 0:
            values = tuple(sorted(draw(st.sets(VALUES[name], min_size=1, max_size=3))))
            filters.append((name, values, draw(st.booleans())))
    begin = at("1971-01-01T00:00:00+00:00")
    day = st.dates(days.day_of(begin, BERLIN), days.day_of(NOW_MS, BERLIN)).map(
        lambda day: days.window_of(day, BERLIN)[0]
    )
    since, until = sorted(draw(st.tuples(*[st.integers(begin, NOW_MS) | day] * 2)))
    take = draw(st.sampled_from([0, 0, 1, 7]))
    groups = (
        {}
        if take
        else {"by": draw(st.sampled_from(["", "day", "tool"])), "count": draw(st.sampled_from(["", "session"]))}
    )
    labelled = any(name == "label" and not negated for name, _, negated in filters)
    return Query(
        since_ms=draw(st.sampled_from([since, None])), until_ms=until, zone=BERLIN, filters=tuple(filters),
        words=draw(TEXTS), without=draw(TEXTS), take=take, limit=draw(st.sampled_from([take or 50, 3])),
        offset=draw(st.sampled_from([0, 10])), sort="newest" if any(groups.values()) else draw(st.sampled_from(["newest", "oldest", "slowest", "fastest"])),
        noise=draw(st.sampled_from([labelled, True, False])), **groups,
    )  # fmt: skip


@given(queries())
def test_any_query_printed_and_parsed_again_is_the_same(query: Query) -> None:
    """The filter form says everything that a Query holds."""
    again = parse(print_query(query), NOW_MS, BERLIN)
    assert (query, print_query(query)) == (parse_plain(again), again.understood)


def parse_plain(query: Query) -> Query:
    """Return the Query without its own printed form, which a made-up one does not have."""
    return Query(**{name: getattr(query, name) for name in Query.__slots__ if name not in ("understood", "note")})


# Nothing is ignored.


@pytest.mark.parametrize("form", FORMS[::7], ids=[form.question for form in FORMS[::7]])
def test_no_word_can_be_replaced_by_nonsense_unnoticed(form: Form) -> None:
    """Any word made into nonsense is refused, or stands in what was understood."""
    words = re.findall(r'"[^"]*"|\S+', form.question)
    changed = [" ".join([*words[:place], "zorpig", *words[place + 1 :]]) for place in range(len(words))]
    assert [question for question in changed if not _noticed(question)] == []


def _noticed(question: str) -> bool:
    try:
        return "zorpig" in ask(question).understood
    except NotUnderstood as refusal:
        return bool(refusal.message)


def wrong_with(question: str) -> str:
    """Return what is wrong with how a question is treated, "" where all is well."""
    try:
        query = ask(question)
    except NotUnderstood as refusal:
        suggested = refusal.hint.partition(TRY)[2]
        return "" if refusal.message and _is_understood(suggested) else f"refused without help: {refusal.hint}"
    if parse(query.understood, NOW_MS, BERLIN) != query:
        return f"printed as another question: {query.understood}"
    left = ignored(question, query)
    return f"ignored: {left} in {query.understood}" if left else ""


def _is_understood(question: str) -> bool:
    try:
        return bool(ask(question).understood)
    except NotUnderstood:
        return False


def test_random_and_mutated_questions_are_understood_whole_or_refused() -> None:
    """No crash, no word ignored, and each refusal suggests a question that works."""
    assert [(question, wrong) for question in fuzzed(3_000, 20_261_026) if (wrong := wrong_with(question))] == []


@pytest.mark.soak
def test_a_hundred_thousand_random_questions_are_understood_whole_or_refused() -> None:
    """The same, at length."""
    failures = ((question, wrong) for question in fuzzed(100_000, 5) if (wrong := wrong_with(question)))
    assert list(islice(failures, 20)) == []


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(re.findall(r"\S+", text))


FUNCTION_WORDS = words_of(
    "a an the all of any every some what which that there was were is are be been being did do does has have had "
    "recorded logged so far ever in total overall altogether time to date"
)
TELLING = sorted(
    {word for phrase in (*OPENING.split("|"), *CLOSING.split("|"), *IMPLYING, *DEEDS) for word in phrase.split()}
    - FUNCTION_WORDS
    - words_of("i you me to us for please thanks thank hi hello hey only just when can could would let want like i'd")
)


def test_what_may_stand_anywhere_without_a_meaning_is_no_word_that_tells_anything() -> None:
    """A filler is an article, an auxiliary or the like: who makes a verb one must put it into its place."""
    assert {word for phrase in FILLER.split("|") for word in phrase.split()} <= FUNCTION_WORDS


@pytest.mark.parametrize("word", TELLING)
@pytest.mark.parametrize(
    ("sentence", "plain"),
    [
        ("what did the agent {} yesterday", "what did the agent yesterday"),
        ("did {} fail yesterday", "did fail yesterday"),
        ("the {} failed yesterday", "the failed yesterday"),
        ("errors that {} yesterday", "errors yesterday"),
        ("agents {} yesterday", "agents yesterday"),
    ],
)
def test_no_telling_word_is_passed_over(word: str, sentence: str, plain: str) -> None:
    """Where a verb tells something it changes what is understood, or the question is refused; the rest is said here."""
    passed = {
        ("errors that {} yesterday", "made"),
        ("errors that {} yesterday", "make"),
        ("agents {} yesterday", "active"),
    }
    passed |= {("errors that {} yesterday", "do")}
    with contextlib.suppress(NotUnderstood):
        understood = parse(sentence.format(word), NOW_MS, BERLIN, NAMES).understood
        assert (understood != parse(plain, NOW_MS, BERLIN, NAMES).understood) or (sentence, word) in passed


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("did all tool calls succeed yesterday", '"all"'),
        ("errors when exec ran", '"when"'),
        ("how many different errors", '"different"'),
        ("sessions with only errors", '"with only"'),
        ("did only exec fail", '"only"'),
        ("messages not sent yesterday", '"sent"'),
        ("what was made yesterday", '"made"'),
        ("errors started yesterday", '"started"'),
        ("active errors", '"active"'),
    ],
)
def test_a_word_that_would_change_the_answer_is_not_dropped(question: str, part: str) -> None:
    """Half a question is not answered."""
    with pytest.raises(NotUnderstood) as refusal:
        parse(question, NOW_MS, BERLIN, NAMES)
    assert part in refusal.value.message
