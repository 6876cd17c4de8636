"""Random and mutated questions, and a look at what became of each of their words."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from limpet.question.dates import COUNTS, LAST, MONTHS, NAMED, NEXT, WEEKDAYS
from limpet.question.hours import PARTS
from limpet.question.known import KNOWN
from limpet.question.spans import DAY_PARTS, UNITS
from limpet.question.vocabulary import (
    CALLS,
    COUNTING,
    EFFECTS,
    FILTER_NAMES,
    GROUPING,
    GROUPS,
    IMPLYING,
    MEANINGS,
    TEXT_VERBS,
    VERBS,
)
from question_forms import forms

if TYPE_CHECKING:
    from limpet.model import Query

QUESTIONS = [form.question for form in forms()]
NUMBERED = re.compile(r"\d[\d:./,-]*(st|nd|rd|th|am|pm|[a-z]{1,7})?|\d{4}-\d\d-\d\dt.*")
GRAMMAR = {
    word
    for table in (KNOWN, EFFECTS, VERBS, GROUPS, COUNTS, LAST, NEXT, MONTHS, WEEKDAYS, NAMED, PARTS, DAY_PARTS, UNITS,
                  FILTER_NAMES, CALLS, IMPLYING, COUNTING.split("|"), GROUPING.split("|"), TEXT_VERBS.split("|"),
                  ["weekend", "week", "noon", "midday", "midnight", "ago", "onward", "onwards", "am", "pm", "o'clock", "year",
                   "named", "called", "having", "top", "most", "often", "id", "the", "without", "onto", "earlier"])
    for phrase in table
    for word in phrase.split()
}  # fmt: skip


def ignored(question: str, query: Query) -> list[str]:
    """Return the words of the question that neither the grammar knows nor the understood form repeats."""
    said = _plain(query.understood.lower().replace('""', '"'))
    words = [
        word.removesuffix("'s") for word in re.findall(r"[^\s\",]+", re.sub(r"'\W|\W'", " ", _plain(question).lower()))
    ]
    stripped = [re.sub(r"^-?(on|since|until|limit):", "", word).strip("?!;.:()[]{}'-^*") for word in words]
    unknown = [
        word
        for word in stripped
        if word and word not in GRAMMAR and not NUMBERED.fullmatch(word) and not _is_said(word, said)
    ]
    return [*unknown, *_passed_over(stripped, said)]


def _is_said(word: str, said: str) -> bool:
    """Tell whether the understood form repeats a word, or the name and the values of a filter, which it may merge."""
    return word in said or (":" in word and all(part in said for part in re.split("[:,]", word)))


SHOWING = frozenset({"show", "list", "give", "tell", "display", "print", "get", "find", "see", "view", "when"})
TOLD = re.compile(r"\b(did you tell me|did the agent tell me|did i tell you|did i get)\b")
COURTESY = frozenset({"thank", "can", "could", "would"})
SAYING = frozenset(
    word for table in MEANINGS.values() for phrase in table.split("|") for word in phrase.split() if " " not in phrase
)


def _passed_over(words: list[str], said: str) -> list[str]:
    """Return the verbs of showing that stand behind what was asked for, where they would tell something."""
    words = TOLD.sub("", " ".join(words)).split()
    polite = [not (word == "you" and words[place - 1] in COURTESY) for place, word in enumerate(words)]
    before = [{one for one, told in zip(words[:place], polite, strict=False) if told} for place in range(len(words))]
    return [word for place, word in enumerate(words) if word in SHOWING and word not in said and SAYING & before[place]]


def _plain(question: str) -> str:
    marks = str.maketrans(
        dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02", '"')
        | dict.fromkeys("\u2018\u2019", "'")
        | dict.fromkeys("\u2013\u2014", "-")
    )
    spaced = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", question)
    return re.sub(r"[\ud800-\udfff]", "\ufffd", spaced).translate(marks)


CHARACTERS = "abcxyz0159 -:,.\"'()*%_?!\\/|&<>=+#@\t\n\0\x7fäßéЖ中日本語한국어عربी🙂\u200d\u202e\ufeff\ud800\u201c\u201d\u2019\u2013"
FRAGMENTS = [
    *sorted(KNOWN), *sorted(EFFECTS), *sorted(MONTHS), *sorted(WEEKDAYS), *(f"{name}:" for name in FILTER_NAMES),
    "status:failed", "-type:message", 'tool:"a b"', "since:24h", "on:yesterday", "until:2026-10-25", "limit:5", "by:day", "take:3",
    '"travel insurance"', "exec", "s-tau-190", "book_reservation", "insurance", "backup", "zorp", "5", "25", "2026", "35th", "9:40",
    "25:00", "2026-10-25", "31.2.2026", "10/5/2026", "36 hours", "2 pm", "ago", "week", "day", "last 5", "DROP TABLE", "';--", "$(x)",
]  # fmt: skip


def fuzzed(number: int, seed: int) -> list[str]:
    """Return random and mutated questions, the same for the same seed."""
    chance = random.Random(seed)
    makers = (_mutated, _mutated, _mixed, _mixed, _noise)
    return [chance.choice(makers)(chance) for _ in range(number)]


def _mixed(chance: random.Random) -> str:
    return " ".join(chance.choice(FRAGMENTS) for _ in range(chance.randrange(1, 9)))


def _noise(chance: random.Random) -> str:
    return "".join(chance.choice(CHARACTERS) for _ in range(chance.randrange(0, 60)))


def _mutated(chance: random.Random) -> str:
    words = chance.choice(QUESTIONS).split(" ")
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(words) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            words.insert(place, chance.choice(FRAGMENTS))
        elif kind == 1:
            words[place : place + 1] = []
        elif kind == 2:
            chance.shuffle(words)
        elif kind == 3:
            words[place : place + 1] = [_noise(chance)]
        else:
            words.insert(place, _slip(chance, chance.choice(words or ["x"])))
    return " ".join(words)


def _slip(chance: random.Random, word: str) -> str:
    place = chance.randrange(len(word) + 1)
    return word[:place] + chance.choice(CHARACTERS) + word[place + chance.randrange(2) :]
