"""The HTTP API gives the answers of the command line, to whoever has a key, and to nobody else."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import NOON, Lab, call, hook
from limpet.web.api import CALLS
from visitor import Visitor, browser, opened, stranger, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = str(NOON + 3_600_000)
QUESTIONS = (
    "failed tool calls today",
    "how many exec calls per hour today",
    "type:tool_call status:failed,timed_out",
    "last 2 messages from me",
    "everything since yesterday",
    "sessions today",
    "status:succeeded tool:exec -tar",
    "berlin",
)
PATHS = (
    "/api/ask?q=errors",
    "/api/recent",
    "/api/session/s-1",
    "/api/event/4096",
    "/api/brief",
    "/api/notes?day=2026-06-01",
    "/api/status",
    "/api/openapi.json",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make an installation that holds a session with a message, a failed and a good call."""
    lab = Lab(tmp_path_factory.mktemp("web"))
    said = hook("message_received", {"role": "user", "content": "the weather in berlin"}, 1)
    lines = [hook("session_start", {"sessionId": "s-1"}), said, call("c1", 5, begins=True), call("c1", 9)]
    lab.take([*lines, call("c2", 20, error="exit 2", params={"command": "tar xf a.tar"})])
    return lab


@pytest.fixture(scope="module")
def visitor(served: Lab) -> Iterator[Visitor]:
    """Serve its page for the tests of this file."""
    with visiting(served) as someone:
        yield someone


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_the_same_answer_as_on_the_command_line(served: Lab, visitor: Visitor, question: str) -> None:
    """`/api/ask` gives what `limpet ask --json` prints, whatever is asked."""
    for zone in ("UTC", "Asia/Tokyo"):
        told = served.limpet("ask", "--json", "--now", NOW, "--tz", zone, question)
        assert told.json == visitor.get("/api/ask", q=question, now=NOW, tz=zone).json


def test_the_other_answers_are_those_of_the_command_line(served: Lab, visitor: Visitor) -> None:
    """`recent`, `session`, `show` and `status` are the same through both doors."""
    asked = {
        ("recent", "--hours", "5", "--now", NOW): f"/api/recent?hours=5&now={NOW}",
        ("session", "agent:main:main", "--children"): "/api/session/agent:main:main?children=true",
        ("show", "4096"): "/api/event/4096",
        ("brief", "--agent", "main", "--now", NOW): f"/api/brief?agent=main&now={NOW}",
        ("note", "--date", "2026-06-01", "--dry-run"): "/api/notes?day=2026-06-01",
    }
    for arguments, path in asked.items():
        assert served.limpet(*arguments, "--json").json == visitor.get(path).json
    assert set(served.limpet("status", "--json").json) == set(visitor.get("/api/status").json)


def test_paging_gives_every_event_once(visitor: Visitor) -> None:
    """`limit` and `offset` cut the same answer into pieces."""
    whole = visitor.get("/api/ask", q="everything", now=NOW).json
    pieces = [visitor.get("/api/ask", q="everything", now=NOW, limit=1, offset=n).json for n in range(whole["count"])]
    assert whole["events"] == [one["events"][0] for one in pieces]
    assert {whole["count"]} == {one["count"] for one in pieces}


@pytest.mark.parametrize(
    ("status", "code", "path"),
    [
        (400, "bad_input", "/api/ask"),
        (400, "not_understood", "/api/ask?q=failed%20tool%20cals%20yesterday%20please"),
        (400, "bad_input", "/api/ask?q=errors&limit=-1"),
        (400, "bad_input", "/api/ask?q=errors&limit=many"),
        (400, "bad_input", "/api/ask?q=errors&q=messages"),
        (400, "bad_input", "/api/ask?q=errors&colour=red"),
        (400, "unknown_zone", "/api/ask?q=errors&tz=Europe/Berlim"),
        (400, "bad_input", "/api/recent?hours=0"),
        (400, "bad_input", "/api/event/none"),
        (404, "not_found", "/api/event/999999999"),
        (404, "not_found", "/api/session/nobody"),
        (404, "not_found", "/api/nothing"),
        (404, "not_found", "/api"),
        (404, "not_found", "/api/brief?agent=nobody"),
        (400, "bad_input", "/api/brief?tokens=1"),
        (400, "bad_input", "/api/notes?day=soon"),
    ],
)
def test_what_cannot_be_answered_says_why(visitor: Visitor, status: int, code: str, path: str) -> None:
    """A wrong request gets its status, a code, a sentence and a hint."""
    reply = visitor.get(path)
    assert (status, code) == (reply.status, reply.json["error"]["code"])
    assert reply.json["error"]["message"]
    assert reply.json["error"]["hint"]


@pytest.mark.parametrize("path", [*PATHS, "/", "/nothing"])
def test_nobody_is_answered_without_a_key(visitor: Visitor, path: str) -> None:
    """Without token or cookie, or with a wrong one, there is no answer, whatever is asked for."""
    someone = stranger(visitor)
    headers: list[dict[str, str]] = [{}, {"Authorization": "Bearer " + "0" * 64}, {"Authorization": "Basic eDp4"}]
    headers += [{"Cookie": f"limpet-{visitor.port}=1"}, {"Cookie": "limpet-1=\udcff;;=="}][:1]
    assert {401} == {someone.send("GET", path, one).status for one in headers}


def test_a_link_lets_one_browser_in_once(lab: Lab) -> None:
    """The link's cookie is hidden from scripts and strict; used again, the link opens nothing."""
    with visiting(lab) as someone:
        path = someone.link.partition(str(someone.port))[2]
        first, second = (stranger(someone).send("GET", path) for _ in range(2))
        assert (first.status, second.status) == (200, 403)
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(first.headers["set-cookie"].split("; "))
        assert browser(opened(lab)).get("/api/status").status == 200
        assert "set-cookie" not in second.headers


def test_a_bookmark_outlives_the_sidecar(lab: Lab) -> None:
    """The page comes back at the port that it had, and cookies of before are gone."""
    with visiting(lab) as before:
        cookie = browser(before)
    with visiting(lab) as after:
        assert before.port == after.port
        assert cookie.get("/api/status").status == 401


def test_the_token_is_for_its_owner_alone(served: Lab, visitor: Visitor) -> None:
    """The token's file is readable by the user only, and the page listens on loopback only."""
    assert (served.home / "web.token").stat().st_mode & 0o777 == 0o600
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in others:
        with socket.socket() as probe:
            assert probe.connect_ex((address, visitor.port)) != 0


HOSTS = ("attacker.example.test", "attacker.example.test:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.test:{port}",
         "127.0.0.1:{port}@evil.test", "0.0.0.0:{port}", "", "LOCALHOST:{port}.")  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_foreign_name_is_refused_before_anything_else(visitor: Visitor, host: str) -> None:
    """DNS rebinding reads nothing, with or without a key (field case F62)."""
    given = {"Host": host.format(port=visitor.port), "Sec-Fetch-Site": "same-origin"}
    for someone in (visitor, stranger(visitor)):
        for path in (*PATHS, "/enter?key=1", "/static/limpet.css", "/nothing"):
            assert someone.send("GET", path, given).status == 403


FOREIGN = (
    ("POST", {"Origin": "https://evil.example.test", "Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site"}),
    ("POST", {"Origin": "null", "Content-Type": "application/x-www-form-urlencoded"}),
    ("OPTIONS", {"Origin": "https://evil.example.test", "Access-Control-Request-Method": "POST"}),
    ("GET", {"Origin": "https://evil.example.test"}),
    ("GET", {"Origin": "http://127.0.0.1:1"}),
    ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}),
    ("GET", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}),
    ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}),
    ("POST", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}),
)


@pytest.mark.parametrize(("method", "headers"), FOREIGN)
def test_another_web_page_gets_nothing_and_changes_nothing(
    served: Lab, visitor: Visitor, method: str, headers: dict[str, str]
) -> None:
    """Cross-site requests are refused with the user's own cookie, add nothing, and end nothing (field case F63)."""
    before = served.events()
    body = b'{"hook":"message_received","event":{"role":"user","content":"planted by a web page"}}'
    for path in ("/api/ask?q=errors", "/api/admin/shutdown", "/"):
        reply = visitor.send(method, path, headers, body if method == "POST" else None)
        assert reply.status == 403
        assert not [name for name in reply.headers if name.startswith("access-control-")]
    assert before == served.events()
    assert visitor.get("/api/status").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"])
def test_nothing_can_be_changed(visitor: Visitor, method: str) -> None:
    """Even with a key and from the page itself every method but reading is refused."""
    reply = visitor.send(method, "/api/status", {"Origin": visitor.address})
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", [*PATHS, "/", "/nothing", "/static/limpet.css", "/enter?key=1"])
def test_every_answer_says_what_a_browser_may_do_with_it(visitor: Visitor, path: str) -> None:
    """Each answer, refusals included, forbids scripts from elsewhere, frames, guessing, caching and referring."""
    for someone in (visitor, stranger(visitor)):
        headers = someone.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        names = ("x-content-type-options", "referrer-policy", "cache-control", "cross-origin-resource-policy")
        assert tuple(headers[name] for name in names) == ("nosniff", "no-referrer", "no-store", "same-origin")
        assert "server" not in headers


def test_the_description_names_every_call(visitor: Visitor) -> None:
    """The OpenAPI description holds each path of the API with its parameters."""
    paths: Any = visitor.get("/api/openapi.json").json["paths"]
    assert {call.path: {one.name for one in call.takes} for call in CALLS} == {
        path: {one["name"] for one in kinds["get"]["parameters"]} for path, kinds in paths.items()
    }


def test_made_up_requests_get_what_the_description_promises(visitor: Visitor, tmp_path: Path) -> None:
    """Hundreds of requests, valid and not: no fault of ours, no other shape, nothing without a key (schemathesis)."""
    token = f"Authorization: {visitor.headers['Authorization']}"
    run = [str(Path(sys.executable).with_name("st")), "run", f"{visitor.address}/api/openapi.json", "--header", token]
    chosen = ["--checks", "all", "--exclude-checks", "positive_data_acceptance"]  # a question may not be understood
    bounds = ["--phases", "coverage,fuzzing", "--max-examples", "12", "--seed", "1", "--generation-database", "none"]
    done = subprocess.run([*run, *chosen, *bounds], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
