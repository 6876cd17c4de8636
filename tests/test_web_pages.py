"""The page, in a real browser on the demo day: each part does what it says, by mouse, keyboard and screen reader."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from browsing import TOGETHER, Look, chromium, faults, looking
from lab import NOON, Lab, call, hook, kill
from visitor import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

SESSION = "/session/agent:main:main"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run one browser for the tests of this file."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, str]]:
    """Play the demo day, run the sidecar on it, and give the day."""
    lab = Lab(tmp_path_factory.mktemp("demo"))
    day = lab.limpet("demo", "--keep", str(lab.state), "--tz", "Europe/Berlin", "--json").json["day"]
    with lab.sidecar():
        yield lab, day


@pytest.fixture
def day(demo: tuple[Lab, str]) -> str:
    """Give the demo day's date."""
    return demo[1]


@pytest.fixture
def look(browser: Browser, demo: tuple[Lab, str]) -> Iterator[Look]:
    """Open a window on the demo day; what a page must never do fails the test at its end."""
    with looking(browser, opened(demo[0]).link) as window:
        yield window


def asked(demo: tuple[Lab, str], *question: str) -> Any:
    """Return what the command line answers, in the zone of the demo day."""
    return demo[0].limpet("ask", "--json", *question).json


def test_a_day_shows_what_went_wrong_first(look: Look, demo: tuple[Lab, str], day: str) -> None:
    """The failures of the day stand above its sessions, all of them, with the count that `limpet ask` gives."""
    page = look.go(f"/?day={day}")
    told = asked(demo, f"is:error on:{day}")
    lines = page.get_by_role("list", name="What went wrong").get_by_role("listitem")
    assert [f"e{event['id']}" for event in told["events"]] == [line.get_attribute("id") for line in lines.all()]
    headings = page.get_by_role("heading", level=2).all_inner_texts()
    expected = [f"What went wrong {told['count']}", "Open ends 2", "By the hour", "Sessions", "The last daily note"]
    assert expected == headings


def test_a_day_says_how_well_it_was_watched(look: Look, day: str) -> None:
    """The band says the same as the coverage, and a day before Limpet was there is no clean one."""
    page = look.go(f"/?day={day}")
    expect(page.get_by_role("img", name="How well this day was watched: complete")).to_be_visible()
    page.get_by_role("link", name="The day before").click()
    expect(page.get_by_text("Nobody watched all of this time")).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing went wrong")).to_be_visible()
    expect(page.get_by_text("As far as was watched")).to_be_visible()


def test_the_hours_add_up_to_the_day(look: Look, demo: tuple[Lab, str], day: str) -> None:
    """The table of the hours holds as many events, and as many failures, as the day has."""
    page = look.go(f"/?day={day}")
    page.get_by_text("The same as a table").click()
    rows = [row.split("\t") for row in page.locator(".table tbody tr").all_inner_texts()]
    assert asked(demo, f"on:{day}")["count"] == sum(int(row[1]) for row in rows)
    assert asked(demo, f"is:error on:{day}")["count"] == sum(int(row[3]) for row in rows)


def test_a_card_leads_to_its_session(look: Look, day: str) -> None:
    """The card of a session names what was asked for, and opens its timeline."""
    page = look.go(f"/?day={day}")
    page.get_by_role("link", name="Book a table for four").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("agent:main:main")


def test_a_question_shows_what_was_understood(look: Look, demo: tuple[Lab, str], day: str) -> None:
    """Each filter can be taken away, the address holds the question, and the table has the events of the answer."""
    page = look.go("/ask")
    page.get_by_role("searchbox").or_(page.get_by_role("combobox")).fill(f"failed tool calls on {day}")
    page.get_by_role("button", name="Ask").click()
    told = asked(demo, f"failed tool calls on {day}")
    ids = [line.get_attribute("id") for line in page.get_by_role("list", name="Events").get_by_role("listitem").all()]
    assert [f"e{event['id']}" for event in told["events"]] == ids
    filters = page.get_by_role("list", name="What was understood").get_by_role("listitem")
    assert told["understood"].split() == [text.split("\n")[0].rstrip("\u00d7") for text in filters.all_inner_texts()]
    page.get_by_role("link", name="Without status:failed,timed_out").click()
    expect(page.get_by_role("heading", name="22 events")).to_be_visible()
    assert "q=type%3Atool_call" in page.url


def test_groups_are_a_table_and_lead_on(look: Look, demo: tuple[Lab, str], day: str) -> None:
    """Each group has its number ("how many per"), and a group opens the question for it alone."""
    page = look.go(f"/ask?q=how many tool calls per tool on {day}")
    told = {one["key"]: one["count"] for one in asked(demo, f"how many tool calls per tool on {day}")["groups"]}
    rows = [row.split("\t") for row in page.locator(".groups tbody tr").all_inner_texts()]
    assert told == {row[0]: int(row[1]) for row in rows}
    page.get_by_role("link", name="exec", exact=True).click()
    expect(page.get_by_role("heading", name=f"{told['exec']} events")).to_be_visible()


def test_a_question_that_is_not_understood_says_what_would_be(look: Look) -> None:
    """The part that was not understood is named, the question stays, and one that works is a link away."""
    page = look.go("/ask?q=failed tool cals yesterday")
    expect(page.get_by_role("alert")).to_contain_text('Not understood: "tool cals".')
    expect(page.locator("#ask")).to_have_value("failed tool cals yesterday")
    page.get_by_role("alert").get_by_role("link", name="failed tool calls yesterday").click()
    expect(page.locator(".answer")).to_be_visible()


def test_an_answer_can_be_saved(look: Look, day: str) -> None:
    """The links below an answer give it as CSV and as the JSON of the API."""
    page = look.go(f"/ask?q=failed tool calls on {day}")
    saved = {name: look.context.request.get(look.address + str(page.get_by_role("link", name=name).get_attribute("href")))
             for name in ("CSV", "JSON")}  # fmt: skip
    assert [reply.status for reply in saved.values()] == [200, 200]
    lines = saved["CSV"].text().splitlines()
    assert [event["id"] for event in saved["JSON"].json()["events"]] == [line.partition(",")[0] for line in lines[1:]]


def test_what_is_saved_is_what_the_page_says(browser: Browser, demo: tuple[Lab, str], day: str) -> None:
    """A reader elsewhere has other days than the agent; the files and the chart are of the page's days."""
    question = f"q=tool calls on {day} before 12:00"
    with looking(browser, opened(demo[0]).link, timezone_id="Asia/Tokyo") as there:
        for zone in ("", "&tz=America/Lima"):
            page = there.go(f"/ask?{question}{zone}")
            count = int(page.locator(".answer strong").inner_text())
            links = {name: page.get_by_role("link", name=name).get_attribute("href") for name in ("CSV", "JSON")}
            csv, json = (there.context.request.get(f"{there.address}{links[name]}") for name in ("CSV", "JSON"))
            assert [count, count] == [len(csv.text().splitlines()) - 1, json.json()["count"]]


def test_a_page_in_another_zone_gets_what_is_new_in_that_zone(look: Look, demo: tuple[Lab, str]) -> None:
    """What comes into a page later has the clocks of the page."""
    page = look.go("/live?tz=Asia/Tokyo")
    expect(page.get_by_role("status")).to_contain_text("Listening")
    demo[0].spool([hook("limpet_add", {"type": "decision", "summary": "tea at five"})], producer="tokyo")
    line = page.locator("#live > li").filter(has_text="tea at five")
    expect(line.locator("time")).to_have_attribute("datetime", re.compile(r"\+09:00$"))


def test_arrows_go_around_the_suggestions(look: Look) -> None:
    """Up from the field is the last one, and down from there the first."""
    page = look.go("/ask")
    page.locator("#ask").fill("type:")
    options = page.get_by_role("option")
    expect(options.nth(2)).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")


def test_suggestions_come_while_typing(look: Look) -> None:
    """The keyboard alone goes from a few letters to an answer."""
    page = look.go("/live")
    page.keyboard.press("/")
    page.keyboard.type("type:tool")
    expect(page.get_by_role("option", name="type:tool_call")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ask?q=type%3Atool_call")
    expect(page.locator(".answer")).to_be_visible()


def test_a_timeline_opens_a_call_where_it_stands(look: Look) -> None:
    """A call is one line; opened, it shows what it was given and gave back, and the timeline stays where it is."""
    page = look.go(SESSION)
    call = page.get_by_role("listitem").filter(has_text="Hotel Alba").filter(has_text="failed")
    call.locator("summary").click()
    expect(call.locator("pre").first).to_contain_text('"night": "14th"')
    expect(call.get_by_text("room no longer available").first).to_be_visible()
    assert SESSION in page.url


def test_a_timeline_shows_turns_marks_children_and_idle_time(look: Look) -> None:
    """Resets, compactions and restarts are marks, subagents nested, and hours without anything one line."""
    page = look.go(SESSION)
    expect(page.locator(".mark").filter(has_text="gateway started").first).to_be_visible()
    expect(page.locator(".mark").filter(has_text="reset").first).to_be_visible()
    expect(page.locator(".mark").filter(has_text="compact").first).to_be_visible()
    expect(page.locator(".child").first).to_be_visible()
    expect(page.get_by_text("1 h 35 min without anything")).to_be_visible()
    assert page.locator(".turn").count() > 5


def test_a_failure_leads_to_the_success_that_made_it_good(look: Look) -> None:
    """A failed call has a link to the later success of its kind, and that one back."""
    page = look.go(SESSION)
    failed = page.get_by_role("listitem").filter(has_text="make deploy VERSION=2.8").filter(has_text="failed")
    failed.get_by_role("link", name="a later one succeeded").click()
    success = page.locator(".item", has=page.locator(".row:focus"))
    expect(success).to_contain_text("succeeded")
    expect(success.get_by_role("link", name="after a failure")).to_have_attribute(
        "href", re.compile(f"#{failed.get_attribute('id')}$")
    )


def test_the_keyboard_alone_is_enough(look: Look) -> None:
    """N and p walk the failures, j and k the events, Enter opens, ? explains, Esc closes."""
    page = look.go(SESSION)
    tone = "document.activeElement.dataset.tone"
    page.keyboard.press("n")
    first = page.evaluate("document.activeElement.closest('li').id")
    assert page.evaluate(tone) == "bad"
    page.keyboard.press("n")
    second = page.evaluate("document.activeElement.closest('li').id")
    assert (page.evaluate(tone), first != second) == ("bad", True)
    page.keyboard.press("p")
    assert first == page.evaluate("document.activeElement.closest('li').id")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert first == page.evaluate("document.activeElement.closest('li').id")
    page.keyboard.press("Enter")
    expect(page.locator("details[open] [data-inside], details[open] pre").first).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_a_whole_task_is_done_without_a_mouse(look: Look, day: str) -> None:
    """From the first page to what a failed deployment gave back, and to what made it good: keys alone."""
    page = look.go("/")
    press = page.keyboard.press
    press("/")
    page.keyboard.type(f'"make deploy" status:failed on:{day}')
    press("Enter")
    page.wait_for_url("**/ask?q=*")
    press("j")
    press("Enter")
    page.wait_for_url("**/event/*")
    link = page.get_by_role("link", name="Where it stands in its session")
    for _ in range(20):
        press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    press("Enter")
    page.wait_for_url("**/session/*")
    failed = page.locator(".item.wanted")
    expect(failed.locator(".row")).to_be_focused()
    press("Enter")
    expect(failed.locator("pre").nth(1)).to_contain_text("FAILED test_rounding")
    tie = failed.get_by_role("link", name="a later one succeeded")
    for _ in range(20):
        press("Tab")
        if tie.evaluate("link => link === document.activeElement"):
            break
    press("Enter")
    expect(page.locator(".item", has=page.locator(".row:focus"))).to_contain_text("succeeded")


def test_an_event_shows_every_witness_and_its_place_in_the_chain(look: Look, demo: tuple[Lab, str], day: str) -> None:
    """The page of an event has each record that `limpet show` has, and each record's hash."""
    number = asked(demo, f'"make deploy" status:failed on:{day}')["events"][0]["id"]
    told = demo[0].limpet("show", number, "--json").json
    page = look.go(f"/event/{number}")
    shown = page.locator(".witnesses h3").all_inner_texts()
    assert [f"Record {record['no']} {record['source']} · {record['kind']}" for record in told["records"]] == shown
    assert all(re.fullmatch("[0-9a-f]{64}", one) for one in page.locator(".hash").all_inner_texts())
    page.get_by_role("link", name="Where it stands in its session").click()
    expect(page.locator(f"#e{number}")).to_be_in_viewport()


def test_a_note_links_each_statement_to_its_events(look: Look, demo: tuple[Lab, str], day: str) -> None:
    """Each statement of the notes of a day names the events that `limpet note` names."""
    told = demo[0].limpet("note", "--date", day, "--dry-run", "--json").json["notes"]
    page = look.go(f"/notes?day={day}")
    assert [note["agent"] for note in told] == page.locator(".note h2").all_inner_texts()
    rows = page.locator(".statements tbody tr")
    assert sum(len(note["statements"]) for note in told) == rows.count()
    first = told[0]["statements"][1]["events"]
    assert first == rows.nth(1).get_by_role("link").all_inner_texts()[: len(first)]


def test_a_note_and_a_brief_are_the_agents_own(browser: Browser, demo: tuple[Lab, str], day: str) -> None:
    """Whoever reads them, wherever: they have the agent's days and clocks, as they stand in its files."""
    with looking(browser, opened(demo[0]).link, timezone_id="Asia/Tokyo") as there:
        page = there.go(f"/notes?day={day}")
        written = demo[0].limpet("note", "--date", day, "--dry-run", "--json").json["notes"]
        assert len(written[0]["statements"]) == page.locator(".note").first.locator(".statements tbody tr").count()
        expect(page.locator(".prose").first).to_contain_text("times of Europe/Berlin")
        there.go("/brief?agent=main")
        expect(page.locator("pre").first).to_contain_text("all times are Europe/Berlin")


def test_health_says_what_a_week_adds(look: Look) -> None:
    """Below the sizes stands what they will be."""
    expect(look.go("/health").get_by_text("A week like the last one adds about")).to_be_visible()


def test_health_walks_the_chain(look: Look, demo: tuple[Lab, str]) -> None:
    """The chain names the recorder as running, and what was taken out is what `limpet status` counts."""
    page = look.go("/health")
    expect(page.get_by_role("listitem").filter(has_text="recorder")).to_contain_text("a sidecar is running")
    counts = demo[0].limpet("status", "--json").json["counts"]
    expect(page.get_by_role("row", name=f"github token {counts['secret: github token']}")).to_be_visible()


def test_a_new_event_appears_by_itself_and_the_place_is_kept(look: Look, demo: tuple[Lab, str]) -> None:
    """What is recorded while somebody reads comes in above, and the line that was read stays where it was."""
    page = look.go("/live")
    expect(page.get_by_role("status")).to_contain_text("Listening")
    page.mouse.wheel(0, 600)
    page.wait_for_function("window.scrollY > 300")
    line = page.locator("#live > li").nth(20)
    number, top = line.get_attribute("id"), line.bounding_box()["y"]  # type: ignore[index]
    demo[0].spool([hook("limpet_add", {"type": "decision", "summary": "we stay on port 9443"})], producer="live")
    expect(page.locator("#live > li").filter(has_text="we stay on port 9443")).to_be_attached()
    assert top == pytest.approx(page.locator(f"#{number}").bounding_box()["y"], abs=2)  # type: ignore[index]
    page.get_by_role("button", name="1 new").click()
    expect(page.locator("#live > li").first).to_contain_text("we stay on port 9443")


def test_more_at_once_than_is_shown_is_said(look: Look, demo: tuple[Lab, str]) -> None:
    """A burst leaves no silent gap among the newest events."""
    page = look.go("/live")
    expect(page.get_by_role("status")).to_contain_text("Listening")
    many = [hook("limpet_add", {"type": "decision", "summary": f"one of many, {n}"}, n) for n in range(300)]
    demo[0].spool(many, producer="burst")
    expect(page.get_by_text("More came at once than are shown here").first).to_be_visible()


def test_a_page_says_that_it_stands_still(browser: Browser, tmp_path: Path) -> None:
    """When the sidecar ends under an open page the page says so; when another one runs, that a new link is needed."""
    lab = Lab(tmp_path)
    lab.take([call("c1")])
    with lab.sidecar() as process, looking(browser, opened(lab).link) as window:
        window.page.wait_for_load_state("load")
        expect(window.page.get_by_role("status")).to_have_count(0)
        kill(process)
        expect(window.page.get_by_role("status")).to_contain_text("The connection is lost; trying again.")
        with lab.sidecar():
            opened(lab)
            expect(window.page.get_by_role("status")).to_contain_text("limpet open gives a new link")
        window.wrong.clear()  # that requests fail is what was wanted


def test_today_and_a_session_follow_what_happens(look: Look, demo: tuple[Lab, str]) -> None:
    """A failure of now comes into the page of today by itself, and then what follows into its session's timeline."""
    now = int(time.time() * 1000) - NOON
    page = look.go("/")
    page.wait_for_load_state("load")
    ctx = {"sessionId": "s-now", "sessionKey": "agent:main:now"}
    demo[0].spool([call("now", now, error="exit 3: just now", ctx=ctx)], producer="today")
    failed = page.get_by_role("list", name="What went wrong").get_by_role("link").filter(has_text="exit 3: just now")
    expect(failed).to_be_visible()
    page = look.go("/session/s-now")
    demo[0].spool([call("later", now + 500, ctx=ctx)], producer="follows")
    expect(page.locator("#timeline .item").filter(has_text="make later")).to_be_visible()


def test_times_are_the_readers_with_the_agents_beside(browser: Browser, demo: tuple[Lab, str], day: str) -> None:
    """A reader in Tokyo sees Tokyo's clocks, and the agent's smaller beside them."""
    with looking(browser, opened(demo[0]).link, timezone_id="Asia/Tokyo") as there:
        page = there.go(f'/ask?q="make deploy" status:failed since:{day}')
        when = page.locator(".row .when").first
        expect(when.locator("time")).to_have_text("19:43:02")
        expect(when.locator(".other")).to_have_text("11:43")
        expect(page.get_by_text("Times are in Asia/Tokyo")).to_be_visible()


PATHS = ("/?day={day}", "/ask", "/ask?q=tool calls on {day}", "/ask?q=how many tool calls per tool on {day}", "/ask?q=faild",
         SESSION, "/live", "/notes?day={day}", "/brief?agent=main", "/health", "/nothing")  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_nobody_is_kept_out(browser: Browser, demo: tuple[Lab, str], name: str) -> None:
    """On no page does axe-core find a serious fault, and nothing moves or sticks out: in light, dark, on a phone."""
    failed = asked(demo, f"is:error on:{demo[1]}")["events"][0]["id"]
    with looking(browser, opened(demo[0]).link, **TOGETHER[name]) as window:
        for path in (*PATHS, f"/event/{failed}", f"/session/agent:main:main?from={failed}"):
            assert (path, []) == (path, faults(window, path.format(day=demo[1])))


def test_the_menu_is_whole_words_on_a_narrow_phone(browser: Browser, demo: tuple[Lab, str]) -> None:
    """No word of the menu or of a button is broken, and the day's arrows are within reach."""
    with looking(browser, opened(demo[0]).link, viewport={"width": 320, "height": 640}) as window:
        page = window.go(f"/?day={demo[1]}")
        links = page.get_by_role("navigation", name="Pages").get_by_role("link").all()
        assert [link.evaluate("one => one.getClientRects()[0].height < 45") for link in links] == [True] * 5
        after = page.get_by_role("link", name="The day after").bounding_box()
        assert after
        assert after["x"] + after["width"] <= 305
