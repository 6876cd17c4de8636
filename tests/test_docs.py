"""The documentation says what is there: each command, setting, word and shape, and no link leads nowhere."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import NOON, Lab, call, hook
from limpet import days, model
from limpet.cli.main import COMMANDS, parser
from limpet.errors import NotUnderstood
from limpet.headline import headline
from limpet.question import parse
from limpet.question.filters import WORDS
from limpet.question.vocabulary import CHOICES, FILTER_NAMES
from limpet.runtimes.meaning import READINGS
from limpet.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
COMMON = {"-h", "--help", "--db", "--json", "--tz", "--now"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def page(name: str) -> str:
    """Return a page's text."""
    return (DOCS / name).read_text("utf-8")


def words_in_ticks(text: str) -> set[str]:
    """Return every word that stands between backticks."""
    return {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.split(r"[\s,]+", code)}


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the arguments of every `limpet ...` in the shell examples of a page."""
    for block in SHELL.findall(text):
        for line in block.splitlines():
            said = shlex.split(line.partition(" > ")[0].partition(" && ")[0], comments=True)
            if said and said[0].endswith("limpet"):
                yield said[1:]


def shape(name: str) -> set[str]:
    """Return the keys that the table of how-it-works.md promises for a command's JSON."""
    row = next(line for line in page("how-it-works.md").splitlines() if line.startswith(f"| `{name} --json` |"))
    return set(re.findall(r"`(\w+)`", row.split("|")[2]))


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make an installation that holds one session with one call."""
    lab = Lab(tmp_path_factory.mktemp("docs"))
    lab.take([hook("session_start", {"sessionId": "s-1"}), call("c1", 5, begins=True), call("c1", 9)])
    return lab


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    """Each command has its section, with all its arguments."""
    text = page("commands.md")
    section = text.partition(f"## `limpet {name}`\n")[2].partition("\n## ")[0]
    below = next(a for a in parser()._actions if a.dest == "command").choices[name]  # type: ignore[index,call-overload]
    options = {option for action in below._actions for option in action.option_strings}
    assert options - set(re.findall(r"--?[\w-]+", section)) <= COMMON
    assert section


def test_every_setting_is_documented() -> None:
    """Each setting has its row in how-it-works.md."""
    rows = set(re.findall(r"^\| `(\w+)` \|", page("how-it-works.md").partition("## Settings")[2], re.MULTILINE))
    assert {field.name for field in fields(Settings)} - {"origins"} == rows


def test_every_environment_variable_is_documented() -> None:
    """Each variable that settings.py reads stands in how-it-works.md."""
    source = (ROOT / "src" / "limpet" / "settings.py").read_text("utf-8")
    assert set(re.findall(r'"((?:LIMPET|OPENCLAW)_\w+)"', source)) <= words_in_ticks(page("how-it-works.md"))


def test_every_kind_of_record_is_documented() -> None:
    """Each kind that Limpet can read stands in the table of how-it-works.md."""
    table = page("how-it-works.md").partition("## What each record becomes")[2].partition("\n## ")[0]
    assert READINGS.keys() <= words_in_ticks(table)


def test_every_filter_is_documented() -> None:
    """Each filter of a question, and each of its words that is ours alone, stands in asking.md."""
    told = words_in_ticks(page("asking.md").partition("## Filters")[2])
    assert {f"{name}:" for name in FILTER_NAMES} <= told
    assert {word for words in (*CHOICES.values(), *WORDS.values()) for word in words} - {"no"} <= told | words_in_ticks(
        page("glossary.md")
    )


def rows_of(head: str) -> list[list[str]]:
    """Return the cells of the rows of the table in asking.md that has this head."""
    table = page("asking.md").partition(f"| {head} |\n")[2].partition("\n\n")[0]
    found = [line.strip("| ").split(" | ") for line in table.splitlines()[1:]]
    assert len(found) > 5
    return found


ASKED_MS = days.at_local(date(2026, 10, 26), 9, 0, "Europe/Berlin")


def asked(question: str) -> model.Query:
    """Return a question of asking.md, understood."""
    return parse(question, ASKED_MS, "Europe/Berlin", {"tool": frozenset({"exec"}), "agent": frozenset({"press"})})


def test_every_question_is_understood_as_documented() -> None:
    """Each example question of asking.md has the filter form that stands beside it."""
    rows = rows_of("question | understood")
    assert rows == [[said, f"`{asked(said).understood}`"] for said, _ in rows]


def test_every_time_is_understood_as_documented() -> None:
    """Each way of saying when has the window that stands beside it."""
    rows = rows_of("said | understood")
    assert rows == [[said, f"`{asked(f'errors {said}').understood.removeprefix('is:error ')}`"] for said, _ in rows]


def test_every_refusal_is_as_documented() -> None:
    """Each question that is refused is refused with the words that stand beside it."""
    for said, told in rows_of("question | what Limpet says"):
        with pytest.raises(NotUnderstood) as refusal:
            asked(said)
        assert told == f"{refusal.value.message} {refusal.value.hint}"


def test_every_headline_is_as_documented() -> None:
    """So many matches, and so complete, give the headline that stands beside them."""
    for said, count, told in rows_of("question | found | the headline"):
        state = "unknown" if told.endswith("unknown") else "complete"
        found = model.Answer(asked(said), int(count), (), (), model.Coverage(state))
        assert told == headline(found, ASKED_MS)


@pytest.mark.parametrize("words", [model.TYPES, model.STATUSES, model.TRUSTS])
def test_every_word_of_ours_is_in_the_glossary(words: tuple[str, ...]) -> None:
    """Each type, status and trust stands in glossary.md."""
    assert set(words) <= words_in_ticks(page("glossary.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    """Each relative link names a file of the repository, and its anchor a heading there."""
    dead = []
    for target in LINK.findall(path.read_text("utf-8")):
        name, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = path.parent / name if name else path
        headings = (
            re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            if file.suffix == ".md" and file.is_file()
            else []
        )
        anchors = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
        if not file.exists() or (anchor and anchor not in anchors):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_example_is_understood(path: Path) -> None:
    """Each `limpet` command line in the pages is one that the parser takes."""
    for arguments in commands_in(path.read_text("utf-8")):
        assert parser().parse_args(arguments).command in COMMANDS


def test_the_examples_of_the_command_line_are_understood() -> None:
    """The example in each command's own help is one that the parser takes."""
    for name, command in COMMANDS.items():
        (arguments,) = commands_in(f"```sh\n{command.examples}\n```")
        assert parser().parse_args(arguments).command == name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_body(name: str) -> None:
    """What the table of commands names is a function that there is."""
    module, _, function = COMMANDS[name].body.partition(":")
    assert callable(getattr(import_module(f"limpet.cli.{module}"), function, None))


def test_setup_and_remove_do_what_the_readme_says(lab: Lab) -> None:
    """`--dry-run` changes nothing, `setup` does, and `remove` undoes it to the byte."""
    lab.state.mkdir()
    config = lab.state / "openclaw.json"
    config.write_text("{ // mine\n}\n", "utf-8")
    statuses, texts = [], []
    for arguments in (
        ["setup", "openclaw", "--dry-run"],
        ["setup", "openclaw", "--yes"],
        ["remove", "openclaw", "--yes"],
    ):
        statuses.append(lab.limpet(*arguments).status)
        texts.append(config.read_text("utf-8"))
    assert statuses == [0, 0, 0]
    assert texts[0] == texts[2] == "{ // mine\n}\n" != texts[1]


def test_the_readmes_python_runs(lab: Lab) -> None:
    """The example of the six functions runs as it stands, and reads back what it logged."""
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    done = lab.code(f"{example}\nprint([row[1:] for row in get_session_timeline(conn, 's1')])")
    logged = [
        ("decision", "we stay on port 9443"),
        ("tool_call", "deploy executed"),
        ("error", "DiskFull: no space left on /data"),
    ]
    assert (done.out.strip(), done.err, done.status) == (str(logged), "", 0)


@pytest.mark.parametrize("name", ["status", "doctor", "verify", "rebuild", "drain"])
def test_json_has_the_keys_that_are_promised(used: Lab, name: str) -> None:
    """What a command gives as JSON has exactly the keys that how-it-works.md names."""
    assert shape(name) - {"what", "found", "remedy"} == set(used.limpet(name, "--json").json)


def test_json_of_a_session_and_an_event_has_the_keys_that_are_promised(used: Lab) -> None:
    """`session` and `show` give the keys that how-it-works.md names, and an event those of its example."""
    session: Any = used.limpet("session", "s-1", "--json").json
    event = next(e for e in session["events"] if e["type"] == "tool_call")
    shown: Any = used.limpet("show", event["id"], "--json").json
    example = page("how-it-works.md").partition('"events": [')[2].partition("]")[0]
    assert set(session) == shape("session") - {"at", "how"}
    assert set(event) == set(re.findall(r'"(\w+)":', example)) | {"sources"}
    assert set(shown) - set(event) == {"details", "records"}
    assert set(shown["records"][0]) == {"no", "source", "kind", "body"}


def test_an_answer_has_the_keys_that_are_promised(used: Lab) -> None:
    """`recent --json` gives the keys of the example in how-it-works.md."""
    answer: Any = used.limpet("recent", "--json", "--now", str(NOON + 60_000)).json
    assert list(answer) == ["question", "understood", "window", "count", "events", "groups", "coverage"]


def test_every_test_that_a_guarantee_names_exists() -> None:
    """Each test that guarantees.md names is a test that there is, in Python or in JavaScript."""
    text = page("guarantees.md")
    named = [(file, f"def {test}(") for file, test in re.findall(r"`(tests/[\w/.]+\.py)::(\w+)`", text)]
    for file, tests in re.findall(r"`(integrations/[\w/.]+\.js)` ((?:\"[^\"]+\"(?:, )?)+)", text):
        named += [(file, f'test("{test}"') for test in re.findall(r'"([^"]+)"', tests)]
    assert len(named) > 20
    assert [(file, test) for file, test in named if test not in (ROOT / file).read_text("utf-8")] == []
