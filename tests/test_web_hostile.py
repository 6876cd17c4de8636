"""Whatever was recorded is only ever text on the page: nothing in it runs, leads away, hides or breaks anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from browsing import Look, chromium, looking
from lab import Lab, call, hook, text_result
from visitor import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

HOSTILE = (
    "<script>window.ran = 1; alert(1)</script>",
    "<img src=x onerror=\"window.ran = 1\"><svg onload='window.ran=1'><animate onbegin=alert(1) attributeName=x dur=1s>",
    '"><a href="javascript:alert(1)" onclick="alert(1)">click</a><iframe srcdoc=\'<script>parent.ran=1</script>\'>',
    "</title></textarea></style></pre><style>*{display:none}</style><link rel=stylesheet href=//evil.example.test/x.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example.test/'><base href=https://evil.example.test/>",
    "<form action=https://evil.example.test><input name=q><button formaction=javascript:alert(1)>",
    "{{ 7*7 }}{% raw %}${7*7}<%= 7*7 %>#{7*7}",
    "javascript:alert(1) data:text/html,<script>alert(1)</script> https://evil.example.test/steal?x=1",
    "\x1b]8;;https://evil.example.test\x07link\x1b]8;;\x07 \x1b[2J\x1b[31mred\x1b[0m \x9b31m \x07\x08\x00",
    "\u202etxt.exe\u202c \u2066hidden\u2069 \u200b\ufeff\U000e0041\U000e0042 \ud83d\ud800",
    "]]><!--><![CDATA[ &lt;b&gt; &#60;script&#62; \\u003cscript\\u003e",
    "' onfocus=alert(1) autofocus x='",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Run one browser for the tests of this file."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Record hostile texts everywhere a text can stand, and serve them."""
    lab = Lab(tmp_path_factory.mktemp("hostile"))
    lines: list[Any] = []
    for number, text in enumerate(HOSTILE):
        ctx = {"agentId": text[:40], "sessionKey": f"agent:{text}:main", "sessionId": f"s-{text}", "runId": text}
        said = {"role": "user", "content": text}
        lines.append(hook("message_received", said, 100 * number, **ctx))
        given = {"params": {text: text, "command": text}, "result": text_result(text), "error": text}
        lines.append(call(f"c{number}{text}", 100 * number + 10, tool=text, ctx=ctx, **given))
        lines.append(hook("limpet_add", {"type": text, "summary": text, "tags": [text]}, 100 * number + 20, **ctx))
    long, deep = "<b>x</b>" * 650_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000
    lines.append(call("long", 9000, params={"command": long}, result=text_result(long), ctx={"sessionId": "s-long"}))
    lines.append(b'{"hook":"after_tool_call","ts":1780315210000,"ctx":{"agentId":"main","sessionId":"s-deep","runId":"r"},'
                 b'"event":{"toolName":"exec","toolCallId":"deep","params":' + deep + b',"result":' + deep + b"}}\n")  # fmt: skip
    lab.take(lines)
    with lab.sidecar():
        yield lab


@pytest.fixture
def look(browser: Browser, hostile: Lab) -> Iterator[Look]:
    """Open a window; a dialog, an error or a request that leaves this machine fails the test at its end."""
    with looking(browser, opened(hostile).link) as window:
        yield window


def came_alive(look: Look) -> Any:
    """Return every recorded text that became a script, an element of its own, or a link that leaves the page."""
    return look.page.evaluate("""() => [
      ...(window.ran === undefined ? [] : ["a script ran"]),
      ...[...document.querySelectorAll("main :is(iframe, style, script, base, meta, link, img, [onerror], [onload], [onclick], [style])")].map((e) => e.outerHTML),
      ...[...document.querySelectorAll("a[href]")].filter((a) => a.origin !== location.origin).map((a) => a.href),
      ...[...document.querySelectorAll("form:not([method=dialog])")].map((f) => new URL(f.action).pathname).filter((p) => !["/ask", "/", "/notes"].includes(p)),
      ...(document.body.innerText.match(/.{0,20}[\\u0000-\\u0008\\u001b\\u009b\\u202a-\\u202e\\u2066-\\u2069\\u200b].{0,20}/g) ?? []),
    ]""")


@pytest.mark.parametrize(
    "path",
    [
        "/?day=2026-06-01",
        "/ask?q=everything",
        "/ask?q=by:agent",
        "/ask?q=by:tool",
        "/live",
        "/notes?day=2026-06-01",
        "/health",
    ],
)
def test_nothing_recorded_comes_alive(look: Look, path: str) -> None:
    """Scripts, handlers, links, styles, frames, terminal sequences and bidi marks stay text in every list."""
    page = look.go(path)
    expect(page.locator("main h1").first).to_be_attached()
    assert came_alive(look) == []


def test_no_event_comes_alive(look: Look, hostile: Lab) -> None:
    """Each event's page, and its session opened in place, shows the hostile text as text."""
    for event in hostile.events("tool_call"):
        page = look.go(f"/event/{event.id}")
        expect(page.locator("main h1")).to_be_visible()
        for details in page.locator(".witnesses details").all():
            details.locator("summary").click()
        assert came_alive(look) == []
        page.get_by_role("link", name="Where it stands in its session").click()
        page.locator(".wanted summary").click()
        expect(page.locator(".wanted [data-inside]")).to_be_visible()
        assert came_alive(look) == []


def test_a_hostile_question_is_text_too(look: Look) -> None:
    """What is typed, or stands in an address that somebody sent, comes back as text only."""
    for text in HOSTILE:
        look.page.goto(look.address + "/ask")
        look.page.locator("#ask").fill(text.encode("utf-8", "replace").decode().replace("\x00", ""))
        look.page.keyboard.press("Enter")
        expect(look.page.locator("main")).to_be_visible()
        assert came_alive(look) == []


def test_a_text_of_five_megabytes_and_a_nest_of_ten_thousand_break_nothing(look: Look, hostile: Lab) -> None:
    """Their pages are small and say what is left out."""
    for event in hostile.events("tool_call", session="s-long") + hostile.events("tool_call", session="s-deep"):
        page = look.go(f"/event/{event.id}")
        expect(page.get_by_role("heading", name="Which witness said what")).to_be_visible()
        assert len(page.content()) < 400_000
    page.go_back()
    expect(page.get_by_text("more are not shown").first).to_be_visible()


def test_a_spreadsheet_computes_nothing(look: Look) -> None:
    """No cell of the export begins like a formula."""
    told = look.context.request.get(f"{look.address}/ask.csv?q=everything").text()
    assert "window.ran" in told
    assert not [line for line in told.splitlines() if line.startswith(("=", "+", "-", "@"))]
