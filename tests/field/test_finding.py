"""Field cases of searching: what is looked for stands there, and all that holds it is found."""

# ruff: noqa: RUF001 - letters that only look alike are what is tested

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, hook
from limpet.errors import LimpetError
from limpet.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Library:
    """A memory of texts with names."""

    def __init__(self, folder: Path, texts: dict[str, str]) -> None:
        """Let each text be a message."""
        lab = Lab(folder)
        lines = [
            hook("message_received", {"content": said, "messageId": name}, at)
            for at, (name, said) in enumerate(texts.items())
        ]
        self.names = {event.at_ms - NOON: name for name, event in zip(texts, lab.take(lines), strict=True)}
        self.memory = Memory(lab.settings)

    def found(self, question: str) -> set[str]:
        """Return the names of the texts that a question finds; a refusal finds nothing."""
        try:
            answer = self.memory.ask(question, NOON + 1000)
        except LimpetError:
            return set()
        assert answer.count == len(answer.events)
        return {self.names[event.at_ms - NOON] for event in answer.events}

    def passages(self, question: str) -> dict[str, str]:
        """Return the passage that is shown of each text found."""
        answer = self.memory.ask(question, NOON + 1000)
        return {self.names[event.at_ms - NOON]: answer.snippets[event.id] for event in answer.events}


def library(folder: Path, texts: dict[str, str]) -> Iterator[Library]:
    """Make a library and close it."""
    made = Library(folder, texts)
    yield made
    made.memory.close()


CJK = {
    "c1": "明天下午三点开项目评审会议讨论排期",
    "c2": "今日は成語しりとりをした",
    "c3": "오늘 끝말잇기 게임을 했다",
    "c4": "步2 重跑gen-itgc后50条悬空引用清零",
    "c5": "deploy ok 部署完成",
    "c6": "ｆｕｌｌｗｉｄｔｈ　ＡＢＣ",
    "c7": "部署 deploy",
}  # fmt: skip
CJK_FOUND = [
    ("评审会议", {"c1"}), ("会议", {"c1"}), ("会", {"c1"}), ("しりとり", {"c2"}), ("끝말잇기", {"c3"}), ("게임", {"c3"}),
    ("悬空", {"c4"}), ("itgc", {"c4"}), ("gen-itgc", {"c4"}), ("重跑gen-itgc后", {"c4"}), ("部署", {"c5", "c7"}),
    ("deploy 部署", {"c5", "c7"}), ('"部署 deploy"', {"c7"}), ("评审 排期", {"c1"}), ("飞机", set()), ("会点", set()),
    ("三", {"c1"}), ("三点开", {"c1"}), ("fullwidth", {"c6"}), ("ＡＢＣ", {"c6"}), ("abc", {"c6"}), ("期", {"c1"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def cjk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Make the library of texts in Chinese, Japanese and Korean."""
    yield from library(tmp_path_factory.mktemp("cjk"), CJK)


@pytest.mark.parametrize(("question", "names"), CJK_FOUND)
def test_chinese_japanese_and_korean_are_found(cjk: Library, question: str, names: set[str]) -> None:
    """Of one character, two, or more, also glued to Latin letters (field case F29)."""
    assert names == cjk.found(question)


SIGNS = {
    "d1": "ran ask-codex wrapper, exit 0",
    "d2": "TODO: fix the flaky migration test",
    "d3": "don't restart the gateway during upload",
    "d4": "pkg grammar::fa loaded",
    "d5": "error at src/app.py:42 in C:\\build\\out",
    "d6": "ubuntu 20.04 image pulled",
    "d7": "AND gate OR gate NOT gate lesson",
    "d8": "price is 100% of budget_total",
    "d9": "price is 100 of budgetXtotal",
    "d10": 'use the "quoted phrase" exactly',
    "d11": "C++ and C# builds (release)",
    "d12": "see https://example.test/a?b=c&d=e*",
}
SIGNS_FOUND = [
    ("ask-codex", {"d1"}), ("TODO: fix", {"d2"}), ("don't", {"d3"}), ("don’t", {"d3"}), ("grammar::fa", {"d4"}),
    ("src/app.py:42", {"d5"}), ("20.04", {"d6"}), ("AND", {"d7", "d11"}), ("NOT gate", {"d7"}), ("OR", {"d7"}),
    ('"quoted phrase"', {"d10"}), ('"quoted phrase', {"d10"}), ("^flaky", {"d2"}), ("-restart", {"d3"}), ("(release)", {"d11"}),
    ("https://example.test/a?b=c", {"d12"}), ("budget_total", {"d8"}), ("flaky*", {"d2"}), ("NEAR(", set()), ('"', set()),
    ("*", set()), (":", set()), ("", set()), ("   ", set()), ('"col:val OR 1=1"', set()), ("col:val OR 1=1", set()),
    ("a AND", set()), ("foo\0bar", set()), ('{"ok":false}', set()),
    # siblings
    ("100%", {"d8"}), ("C++", {"d11"}), ("C#", {"d11"}), ("20-04", set()), ("ask codex", {"d1"}), ('"ask codex"', set()),
    ("grammar:fa", set()), ("src/app.py:4", set()), ("app.py", {"d5"}), ("C:\\build\\out", {"d5"}), ("budget", {"d8"}),
    ('"fix the flaky"', {"d2"}), ('"fix flaky"', set()), ('"FIX  THE\tFLAKY"', {"d2"}), ('-"gate" -price', {"d1", "d2", "d3", "d4", "d5", "d6", "d10", "d11", "d12"}),
    ('price -"100%"', {"d9"}), ("gate'; DROP TABLE event; --", set()), ("gate OR 1=1", set()), ("NEAR(a b)", set()),
]  # fmt: skip


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Make the library of texts with signs in them."""
    yield from library(tmp_path_factory.mktemp("signs"), SIGNS)


@pytest.mark.parametrize(("question", "names"), SIGNS_FOUND)
def test_what_a_user_types_is_words_and_never_an_expression(signs: Library, question: str, names: set[str]) -> None:
    """No error of the index, no silence: exactly the texts that hold what was typed (field case F49)."""
    assert names == signs.found(question)


WILD = {
    "l1": "serial OATH_01",
    "l2": "serial OATHX01",
    "l3": "at 100%",
    "l4": "at 100 percent",
    "l5": "/srv/app_1/log",
    "l6": "/srv/appX1/log",
    "l7": "my\\windows\\path",
    "l8": "serial OATH-01",
    "l9": "a && b || c => d",
}
WILD_FOUND = [
    ("OATH_01", {"l1"}), ("100%", {"l3"}), ("/srv/app_1/", {"l5"}), ("my\\windows", {"l7"}), ("%", {"l3"}),
    ("_", {"l1", "l5"}), ("\\", {"l7"}), ("' OR '1'='1", set()), ("OATH-01", {"l8"}), ("oath_01", {"l1"}), ("100", {"l3", "l4"}),
    ("&&", {"l9"}), ("=>", {"l9"}), ('"b || c"', {"l9"}), ('"b && c"', set()), ("tool:app%", set()), ("serial -%", set()), ('serial -"%"', {"l1", "l2", "l8"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Make the library of texts with wildcards in them."""
    yield from library(tmp_path_factory.mktemp("wild"), WILD)


@pytest.mark.parametrize(("question", "names"), WILD_FOUND)
def test_wildcards_are_signs_like_any_other(wild: Library, question: str, names: set[str]) -> None:
    """`_` and `%` stand for themselves, alone too (field case F50)."""
    assert names == wild.found(question)


WORDS = {
    "w1": "Die GRÖSSE der Straße, naïve CAFÉ, İstanbul",
    "w2": "handleRequest calls parse_http_header and ask-codex v1.2.3",
    "w3": "café naive grosse",
    "w4": "ΚΑΛΗΜΈΡΑ Όλος",
    "w5": "мой ёж",
    "w6": "мои",
    "w7": "done ✅ shipped 🚀 by 👩‍💻 ❤️",
    "w8": "rm -rf /tmp/x",
    "w9": "rm; -rf is dangerous, term -rf",
    "w10": "git push --force-with-lease",
    "w11": "path /var/log/nginx/access.log and file notes (final).md",
    "w12": "order 4711, 1.234,56 EUR, 2026-10-25T14:00",
    "w13": 'if (a != b) { return x["key"]; } // λ',
}
WORDS_FOUND = [
    ("grösse", {"w1", "w3"}), ("GROSSE", {"w1", "w3"}), ("größe", {"w1", "w3"}), ("strasse", {"w1"}), ("STRASSE", {"w1"}), ("cafe", {"w1", "w3"}),
    ("Café", {"w1", "w3"}), ("naïve", {"w1", "w3"}), ("istanbul", {"w1"}), ("καλημερα", {"w4"}), ("ολοσ", {"w4"}), ("мой", {"w5"}),
    ("мои", {"w6"}), ("еж", {"w5"}), ("handlerequest", {"w2"}), ("parse_http_header", {"w2"}), ("http", {"w2"}), ("http_header", {"w2"}),
    ("PARSE_HTTP", {"w2"}), ("v1.2.3", {"w2"}), ("v1.2", {"w2"}), ("🚀", {"w7"}), ("✅", {"w7"}), ("❤", {"w7"}), ("🐌", set()), ("👩‍💻", {"w7"}),
    ('"done ✅"', {"w7"}), ('"✅ shipped 🚀"', {"w7"}), ("rm -rf", {"w8"}), ('"rm -rf"', {"w8"}), ("push --force", {"w10"}),
    ('"--force-with-lease"', {"w10"}), ("--force", {"w10"}), ("--forc", set()), ("-rf", {"w8", "w9"}), ("/var/log/nginx", {"w11"}), ("access.log", {"w11"}),
    ('"notes (final).md"', {"w11"}), ("/var/log/ngin", set()), ("4711", {"w12"}), ("471", set()), ("1.234,56", {"w12"}), ('"1.234,56"', {"w12"}),
    ('"2026-10-25T14:00"', {"w12"}), ('"a != b"', {"w13"}), ('x["key"]', {"w13"}), ('"x[""key""]"', {"w13"}), ("λ", {"w13"}), ("//", {"w13"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Make the library of words, names, paths, numbers and emoji."""
    yield from library(tmp_path_factory.mktemp("words"), WORDS)


@pytest.mark.parametrize(("question", "names"), WORDS_FOUND)
def test_words_are_found_in_any_case_and_accent_and_signs_as_they_stand(
    words: Library, question: str, names: set[str]
) -> None:
    """Identifiers, paths, numbers, commands, emoji: what is found holds what was looked for."""
    assert names == words.found(question)


def test_a_hit_shows_the_passage_around_it(tmp_path: Path) -> None:
    """Deep in a long text too, in its own spelling, on one line."""
    long = "lorem ipsum " * 900
    texts = {
        "deep": f"{long}\nhere the Größe of\tthe NEEDLE is told\n{long}",
        "short": "a needle",
        "cut": f"{'x' * 30_000} needle {'y' * 30_000}",
        "end": f"{'word ' * 10_000} at last a needle",
    }
    library = Library(tmp_path, texts)
    shown = library.passages("needle")
    assert shown.keys() == {"deep", "short", "end"}
    assert "here the Größe of the NEEDLE is told" in shown["deep"]
    assert shown["short"] == "a needle"
    assert shown["end"].endswith("at last a needle")
    assert all(len(passage) <= 160 and "\n" not in passage for passage in shown.values())
    assert "Größe of the NEEDLE" in library.passages('"grosse of the needle"')["deep"]
    library.memory.close()
