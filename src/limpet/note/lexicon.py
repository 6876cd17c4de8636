"""The words that a model's wording may use of itself, and those that decide what a sentence claims. Pure data."""

from __future__ import annotations


def _words(said: str) -> tuple[str, ...]:
    return tuple(said.split())


LINKING = frozenset(
    _words(
        "a an the this that these those it its they their them and or but of in on at to from for with by as into "
        "onto via is are was were be been being has have had which there also too though although day "
        "time times agent agent's"
    )
)
"""Small words that say nothing of their own: any sentence may use them."""

ORDER = frozenset(("then", "later", "afterwards", "next"))
"""Words that say that this came after what the text told before."""

NOT = frozenset(_words("not no never none nothing nobody neither nor without cannot nowhere"))
AGAINST = frozenset(
    _words(
        "dont doesnt didnt isnt arent wasnt werent wont wouldnt cant couldnt shouldnt mustnt neednt havent hasnt hadnt "
        "avoid avoids avoiding refrain stop stops stopping prevent prevents preventing forbid forbids forbidden skip "
        "skipping quit cease exclude excluding except rather hardly barely almost nearly kidding joking wrong why "
        "nicht kein keine keinen niemals pas jamais"
    )
)
"""Words by which what somebody asked for may be the opposite of a part of it."""

CONDITION = frozenset(_words("if unless until when whenever only except before after instead"))
MODAL = frozenset(
    _words(
        "will would shall should may might can could must try tried tries trying plan planned plans want wanted wants"
    )
)
"""A text that is not quoted whole may not lose any of these: without them it says something else."""

NOUNS = {
    "asked": frozenset(("message",)),
    "done": frozenset(("command", "call", "tool")),
    "failed": frozenset(("command", "call", "tool")),
    "stopped": frozenset(("command", "call", "tool")),
    "open": frozenset(("command", "call", "tool")),
    "file": frozenset(("file",)),
    "delivered": frozenset(("message",)),
    "cron": frozenset(("job",)),
    "restart": frozenset(("gateway",)),
}
"""What a thing of this kind may be called."""

_SAME = {
    "failed": "fail fails failed failing failure failures unsuccessful unsuccessfully",
    "succeeded": "succeed succeeds succeeded succeeding success successful successfully",
    "asked": "ask asks asked asking request requests requested",
    "cancelled": "cancel cancels cancelled canceled",
    "interrupted": "interrupt interrupts interrupted interruption interruptions",
    "restarted": "restart restarts restarted",
    "timed out": "timed timed_out timeout timeouts limit limits",
    "owner": "owner owner's user user's human human's person",
    "subagent": "subagent subagents subagent's",
}
_ALONE = _words(
    "completed complete finished finish ended end worked works passed recovered repaired mended fixed good broke "
    "broken crashed died dead killed blocked refused denied aborted stopped cut hung open unfinished pending started "
    "unknown unanswered answered lost missing delivered undelivered wrong began begun reset right clean blind done"
)
STATUS = {word: name for name, words in _SAME.items() for word in words.split()} | {word: word for word in _ALONE}
"""What a word says of how something went, or who it was; words with one meaning have one name."""

_COUNTED = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_ORDINALS = _words("first second third fourth fifth sixth seventh eighth ninth tenth")
NUMBERS = (
    {word: str(number) for number, word in enumerate(_COUNTED)}
    | {word: f"{number}." for number, word in enumerate(_ORDINALS, 1)}
    | {"once": "1", "twice": "2", "thrice": "3", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60"}
    | {"seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100", "thousand": "1000", "million": "1000000"}
)
"""Numbers in words; an ordinal is its number with a point."""

_IRREGULAR = {
    "ran": "run", "wrote": "write", "written": "write", "sent": "send", "made": "make", "began": "begin",
    "begun": "begin", "told": "tell", "gave": "give", "given": "give", "said": "say", "took": "take", "taken": "take",
    "read": "read", "kept": "keep", "put": "put", "saw": "see", "seen": "see", "did": "do", "came": "come",
}  # fmt: skip
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")


def stem(word: str) -> str:
    """Return what a lower-case word shares with its other forms; good enough to know `files` and `file` as one."""
    word = word.removesuffix("'s").removesuffix("’s")  # noqa: RUF001
    if word in _IRREGULAR:
        return _IRREGULAR[word].removesuffix("e")
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return f"{word[:-3]}y"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _single(word.removesuffix(ending))
    return word


def _single(word: str) -> str:
    return word[:-1] if word[-1] == word[-2] and word[-1] not in "aeiouls" else word
