"""Secrets are found in any field, form and spelling; what only looks like one stays; ids stay."""

import json
import random
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import planted
from limpet import jsonline
from limpet.errors import BadInput
from limpet.redact import Redactor
from limpet.redact.finder import Finder
from limpet.redact.layers import Layer, peeled
from limpet.redact.mask import MASK
from limpet.redact.names import named
from limpet.redact.patterns import SHAPES
from limpet.redact.phrases import LEADS
from limpet.redact.values import is_card

KEY = b"0123456789abcdef0123456789abcdef"
REDACTOR = Redactor(KEY)
MASK_TEXT = re.compile(MASK.pattern.decode())
GENERIC = "hunter2" + "-Sup3r" + "-S3cret!"
GITHUB = "gh" + "p_" + "FaKeFaKeFaKeFaKeFaKeFaKeFaKeFaKe1234"
ANTHROPIC = "sk-" + "ant-api03-" + "FaKe0FaKe1FaKe2FaKe3FaKe4FaKe5-xyz_AA"
AWS_SECRET = "fAkE" + "/K7MDENG+bPx" + "RfiCYEXAMPLEKEYfake1"


def parts(secret: str) -> set[str]:
    """Return every 12 characters of a secret that stand together; all of one that is shorter."""
    return {secret[i : i + 12] for i in range(max(1, len(secret) - 11))}


def readable(value: object) -> str:
    """Return a value as JSON in which a secret can be read however it was escaped."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    for _ in range(3):
        text = text.replace("\\\\", "\\").replace("\\n", "\n").replace("\\u0000", "").replace("\x00", "")
    return re.sub(r"(?:\x1b|\\u001b)\[[0-9;]*[mK]|\u200b", "", text)


def left_of(secret: str, value: object) -> set[str]:
    """Return the parts of a secret that can still be read in what was made of a value, in both ways to redact it."""
    out, _ = REDACTOR.redact(value)
    raw = REDACTOR.redact_bytes(jsonline.dump(value)).decode()
    return {part for part in parts(secret) if part in readable(out) or part in readable(raw)}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_left_of_a_thousand_planted_secrets(seed):
    """Of all kinds, in all places, whole or cut off: no twelve characters of any stay, in values or raw bytes."""
    made = planted.plantings(seed)
    assert len(made) >= 1000
    assert [(where, left) for where, secret, value in made if (left := left_of(secret, value))] == []


def test_a_thousand_look_alikes_are_not_touched():
    """Hashes, UUIDs, ids, variables, placeholders, words, code, paths, counts."""
    rng = random.Random(7)
    made = [(what, value) for _ in range(30) for what, value in planted.look_alikes(rng).items()]
    assert len(made) >= 1000
    assert [what for what, value in made if REDACTOR.redact(value) != (value, {})] == []
    assert [what for what, value in made if REDACTOR.redact_bytes(raw := jsonline.dump(value)) != raw] == []


def test_at_least_forty_kinds_are_known():
    """Each says in a mask what it is."""
    kinds = {shape.kind for shape in SHAPES} | {lead.kind for lead in LEADS if lead.kind}
    assert len(kinds) >= 60
    assert all(MASK_TEXT.fullmatch(f"⟦removed: {kind} #00000000; not a value⟧") for kind in kinds)


@pytest.mark.parametrize("prefix", ["call_", "toolu_", "msg_", "resp_", "chatcmpl-", "fc_", "req_", "run_", ""])
def test_ids_of_runtimes_and_providers_are_never_masked(prefix):
    """In their fields and in running text; 2,000 of each form."""
    rng = random.Random(prefix)
    for _ in range(2000):
        name = prefix + planted.drawn(rng, planted.ALNUM, 24) if prefix else planted.NAMED["uuid"](rng)
        value = {"ctx": {"toolCallId": name, "sessionKey": f"agent:main:{name}"}, "text": f"the id {name}", "n": [name]}
        assert REDACTOR.redact(value) == (value, {})


FRAGMENTS = st.sampled_from(
    [
        *(draw(random.Random(kind)) for kind, draw in planted.SHAPED.items()),
        *(draw(random.Random(kind)) for kind, draw in planted.NAMED.items()),
        *planted.NAMES,
        *("=", ": ", '"', "'", "\\", '\\"', "\n", " ", "%41", "&quot;", "\x1b[31m", "\0", "…", "...", "[truncated]"),
        *(
            "--",
            "$X",
            "${X}",
            "<x>",
            "****",
            "Bearer ",
            "Basic ",
            "Cookie: a=b; ",
            "mysql -p",
            "https://bob:",
            "@h/",
            "|",
        ),
        *(
            "⟦removed: api key #12345678; not a value⟧",
            "⟦removed: ",
            "; not a value⟧",
            "<password>",
            "</password>",
            "`",
        ),
    ]
)
TEXT = st.lists(FRAGMENTS | st.text(max_size=6), max_size=7).map("".join)
NAME = st.sampled_from(["name", "value", "key", *planted.NAMES]) | TEXT
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | TEXT
    | TEXT.map(lambda t: json.dumps({"token": t})),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAME, inner, max_size=4),
    max_leaves=12,
)


def shape_of(value: object) -> object:
    """Return what a value is made of, without what its strings say."""
    if isinstance(value, dict):
        return [len(value), *map(shape_of, value.values())]
    return list(map(shape_of, value)) if isinstance(value, list) else type(value)


@given(JSON)
@settings(max_examples=400, deadline=None)
@example(["\x80⟦removed: ", json.dumps({"token": "𐀀𐀀⟦removed: "})])
@example({"password": "⟦removed: api key #12345678; not a value⟧"})
@example({"headers": {"Authorization": "Bearer ⟦removed: api key #12345678; not a value⟧"}})
def test_any_json_is_taken_its_shape_stays_and_a_second_time_changes_nothing(value):
    """It never raises, keeps keys, lists and types, and a mask is never masked."""
    out, counts = REDACTOR.redact(value)
    assert shape_of(out) == shape_of(value)
    assert REDACTOR.redact(out) == (out, {})
    assert (out == value) == (counts == {})


@given(st.binary(max_size=60) | TEXT.map(str.encode))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_taken_and_a_second_time_changes_nothing(raw):
    """Quarantine may hold anything."""
    once = REDACTOR.redact_bytes(raw)
    assert REDACTOR.redact_bytes(once) == once


@given(TEXT.map(str.encode) | st.binary(max_size=40) | st.text('\\"nu041x%&;').map(str.encode))
@settings(max_examples=300, deadline=None)
@example(b"\xff\\\\n")
def test_the_quick_way_to_undo_escapes_reads_the_same_as_the_one_that_keeps_the_way_back(data):
    """Else the gate would look at another text than the search."""
    above = Layer(data).next()
    quick = peeled(data)
    assert (data if quick is None else quick) == above.text
    spans = [above.origin(at, at + 1) for at in range(len(above.text))]
    assert all(0 <= start < end <= len(data) for start, end in spans)
    assert spans == sorted(spans)


def test_what_the_gate_lets_through_is_never_found_by_a_rule():
    """Each planted secret makes the gate say that a look is worth it."""
    finder = Finder()
    missed = [s for _, s, v in planted.plantings(4) if finder.find(t := jsonline.dump(v)) and not finder.suspects(t)]
    assert missed == []


def test_the_mask_says_the_kind_and_a_fingerprint_and_that_it_is_no_value():
    """Kind in words, eight hex digits, and nothing that could be pasted and used."""
    out, counts = REDACTOR.redact_text(f"use {GITHUB} now")
    assert MASK_TEXT.search(out)[0].startswith("⟦removed: github token #")
    assert counts == {"github token": 1}
    assert MASK_TEXT.sub("", out) == "use  now"


def test_the_same_secret_has_the_same_fingerprint_however_it_is_written():
    """One can ask "same key?"; another installation's key gives another fingerprint."""
    spellings = [GITHUB, f"x {GITHUB} y", json.dumps({"a": json.dumps([GITHUB])}), f"https://h/?token={GITHUB}&x=1"]
    prints = {MASK_TEXT.search(REDACTOR.redact_text(text)[0])[0] for text in spellings}
    assert len(prints) == 1
    assert MASK_TEXT.search(Redactor(b"another key").redact_text(GITHUB)[0])[0] not in prints


def test_secrets_in_arguments_output_errors_urls_and_headers_are_removed():
    """As agents really leak them (field case F54)."""
    value = {
        "params": {
            "command": f"curl -H 'Authorization: Bearer {GENERIC}x' -H 'x-api-key: {ANTHROPIC}' https://api.example.test",
            "dsn": f"postgres://app:{GENERIC}@db.example.test/x",
            "headers": {"Cookie": f"sid={GENERIC}"},
        },
        "result": {"content": [{"type": "text", "text": f"HTTP 401 for {GITHUB}"}], "rows": [{"api_key": AWS_SECRET}]},
        "error": f"fatal: could not read from https://bob:{GENERIC}@git.example.test/r.git",
    }
    left = [s for s in (GENERIC, GITHUB, ANTHROPIC, AWS_SECRET) if left_of(s, value)]
    assert left == []


def test_an_environment_dump_loses_its_secrets_and_keeps_the_rest():
    """PATH and HOME stay; the third copy of the configuration, JSON in a string, is cleaned, too (field case F55)."""
    dump = f"PATH=/usr/bin\nANTHROPIC_API_KEY={ANTHROPIC}\nAWS_SECRET_ACCESS_KEY={AWS_SECRET}\nDB_PASSWORD={GENERIC}\nHOME=/home/sam"
    config = json.dumps(
        {"env": {"vars": {"ANTHROPIC_API_KEY": ANTHROPIC}}, "raw": json.dumps({"botToken": "__HIDDEN__"})}
    )
    out, counts = REDACTOR.redact({"text": dump, "config": config})
    assert out["text"].startswith("PATH=/usr/bin\nANTHROPIC_API_KEY=⟦removed: anthropic key #")
    assert out["text"].endswith("⟧\nHOME=/home/sam")
    assert "__HIDDEN__" in out["config"]
    assert not any(left_of(s, {"text": dump, "config": config}) for s in (ANTHROPIC, AWS_SECRET, GENERIC))
    assert sum(counts.values()) == 4


@pytest.mark.parametrize("name", ["DB_PASSWORD", "BOT_TOKEN", "FOO_SECRET", "THING_KEY"])
def test_a_variable_named_like_a_secret_is_removed_even_if_it_is_a_word(name):
    """In an environment nothing that has such a name is harmless (field case F55)."""
    assert "swordfish" not in REDACTOR.redact_text(f"A=1\n{name}=swordfish\nB=2")[0]


def test_a_key_block_without_its_end_is_removed_up_to_where_it_was_cut():
    """And the text before it stays (field case F56)."""
    block = planted.pem(random.Random(1), "OPENSSH ")
    out, _ = REDACTOR.redact_text("x" * 3000 + block[:-60])
    assert out.startswith("x" * 3000 + "⟦removed: private key #")
    assert not any(part in out for part in parts(block[40:-60]))


def test_the_tail_of_a_key_block_is_removed():
    """Lines before an END whose BEGIN was cut off are no less secret."""
    block = planted.pem(random.Random(2), "RSA ")
    out, _ = REDACTOR.redact_text(block[100:] + "\nafter")
    assert out.endswith("\nafter")
    assert not any(part in out for part in parts(block[100:-40]))


def test_the_half_that_a_cut_left_is_known_from_the_whole_elsewhere_in_the_record():
    """A tail has no beginning that would give it away (field case F56)."""
    value = {
        "full": f"password={GENERIC}{GENERIC}",
        "head": f"it is {GENERIC[:15]}… [cut]",
        "tail": f"{GENERIC[5:]} ok",
    }
    assert left_of(GENERIC * 2, value) == set()


def test_a_secret_known_by_its_name_is_removed_where_it_stands_without_one():
    """The password of a command, echoed by the program; but an id that happens to be equal stays."""
    out, counts = REDACTOR.redact({"args": {"password": GENERIC}, "out": f"login with {GENERIC} ok", "id": GENERIC})
    assert GENERIC not in out["out"]
    assert out["id"] == GENERIC
    assert counts == {"password": 2}


def test_a_secret_beside_a_part_that_is_nested_too_deep_is_removed():
    """Depth is no way around it (field case F41)."""
    line = ('{"apiKey":"' + GENERIC + '","a":' + '{"a":' * 5000 + "1" + "}" * 5001).encode()
    out, _ = REDACTOR.redact(jsonline.parse(line))
    assert GENERIC.encode() not in jsonline.dump(out)
    deep: list[object] = [GITHUB]
    for _ in range(3000):
        deep = [deep]
    assert GITHUB.encode() not in jsonline.dump(REDACTOR.redact({"a": deep, "b": GITHUB})[0])


@pytest.mark.parametrize(
    "value",
    [
        {"token": 5, "password": None, "secret": True, "apiKey": 1.5, "cookies": [], "auth": {}},
        {"maxTokens": "4096", "token_count": "17", "author": "Jane", "keyboard": "qwerty", "primaryKey": "id"},
        {"credentials": {"type": "object"}, "password": {"type": "string", "minLength": 8}},
    ],
)
def test_what_is_no_text_or_no_secret_stays_the_same_object(value):
    """Numbers, truth values, nothing, schemas; not even a copy is made of what needs none."""
    assert REDACTOR.redact(value) == (value, {})


def test_a_value_without_secrets_comes_back_uncopied():
    """The common case costs one look."""
    value = {"hook": "after_tool_call", "event": {"params": {"command": "ls -la"}, "result": ["ok"]}}
    assert REDACTOR.redact(value)[0] is value


@pytest.mark.parametrize(
    ("argv", "kept"),
    [
        (["mysql", "-u", "root", f"-p{GENERIC}"], ["mysql", "-u", "root", None]),
        (["tool", "--password", GENERIC, "--verbose"], ["tool", "--password", None, "--verbose"]),
        (["curl", "-u", f"bob:{GENERIC}", "https://h"], ["curl", "-u", None, "https://h"]),
        (["tool", "--max-tokens", "4096", "--auth", "basic"], ["tool", "--max-tokens", "4096", "--auth", "basic"]),
    ],
)
def test_a_list_of_arguments_reads_like_a_command_line(argv, kept):
    """The value of a flag stands in the next item."""
    out, _ = REDACTOR.redact({"argv": argv})
    assert [item if item == old else None for item, old in zip(out["argv"], argv, strict=True)] == kept
    assert GENERIC not in json.dumps(out)


@pytest.mark.parametrize(
    "said",
    [
        "PGPASSWORD=hunter2 psql", "password: swordfish", "my password is hunter2", "curl --user bob:hunter2 http://x",
        "redis-cli -a hunter2 ping", "htpasswd -b f bob hunter2", "openssl enc -pass pass:hunter2", "7z x -phunter2 a.7z",
        "echo hunter2 | sudo -S ls", "redis://:hunter2@localhost:6379/0", "Server=x;User Id=sa;Password=hunter2;",
        "authorization: token abc123def456", "//registry.npmjs.org/:_authToken=abc-123-def", "machine x login b password hunter2",
        "<password>hunter2</password>", '<add key="ApiKey" value="abc123def"/>', "password => 'hunter2'", "otp=123456",
        'config.set("password", "hunter2")', "setx API_KEY abc123", '$env:API_KEY = "abc123def"', "-Password hunter2",
        "ALTER USER x WITH PASSWORD 'hunter2'", "--from-literal=password=hunter2", "passphrase: correct horse battery staple",
        "https://a.blob.example.test/c?sv=2020&sig=abc%2Bdef123%3D", "4111 1111 1111 1111", "ssh-keygen -N hunter2 -f x",
        "set password hunter2", "pin: 1234", "api key: abc123def", "(password: hunter2)", "MYSQL_PWD=hunter2",
    ],
)  # fmt: skip
def test_the_ways_of_saying_that_a_secret_follows_are_known(said):
    """In commands, configuration, code, SQL, markup and prose."""
    assert REDACTOR.redact_text(said)[1] != {}


@pytest.mark.parametrize(
    "name",
    ["sessionKey", "idempotencyKey", "skillKey", "totalTokens", "max_tokens", "token_count", "author", "PATH", "key",
     "authorized", "next_token", "public_key", "SSH_AUTH_SOCK", "password_hash", "secretName", "isSecret", "tokenizer",
     "cookie_name", "primaryKey", "contextTokenBudget", "CommandAuthorized", "keys", "monkey", "bypass"],
)  # fmt: skip
def test_a_name_that_only_resembles_that_of_a_secret_speaks_of_none(name):
    """Runtimes are full of them."""
    assert named(name) is None


@pytest.mark.parametrize(
    ("digits", "valid"),
    [("4111111111111111", True), ("378282246310005", True), ("5555555555554444", True), ("6011111111111117", True),
     ("4111111111111112", False), ("1111111111111117", False), ("411111111111111", False), ("4" * 19, False)],
)  # fmt: skip
def test_a_card_number_has_an_issuer_and_a_check_digit(digits, valid):
    """Other numbers of that length are ids and times."""
    assert is_card(digits) == valid


def test_the_users_own_kinds_are_removed_too():
    """As (kind, pattern) from the configuration; the kind is made fit for a mask."""
    mine = Redactor(KEY, [("ACME Badge!", r"ACME-[0-9]{6}"), ("inner", r"<<([a-z]+)>>")])
    out, counts = mine.redact({"text": "badge ACME-123456 and <<abc>>"})
    assert counts == {"acme badge": 1, "inner": 1}
    assert "ACME-123456" not in out["text"]
    assert "<<⟦removed: inner #" in out["text"]


def test_a_pattern_that_cannot_be_read_is_refused_by_name():
    """Before anything is recorded with half of the rules."""
    with pytest.raises(BadInput, match="badge"):
        Redactor(KEY, [("badge", "(unclosed")])


def test_bytes_that_are_no_text_lose_their_secrets_and_nothing_else():
    """A torn line in quarantine, with bad bytes and half an object."""
    raw = (
        b'{"x":"caf\xe9 \xff","apiKey":"'
        + AWS_SECRET.replace("/", "\\/").encode()
        + b'","tail":"'
        + GITHUB.encode()[:20]
    )
    out = REDACTOR.redact_bytes(raw)
    assert out.startswith(b'{"x":"caf\xe9 \xff","apiKey":"\xe2\x9f\xa6removed: api key #')
    assert not any(part.encode() in out for part in parts(AWS_SECRET) | parts(GITHUB[:20]))


@pytest.mark.parametrize(
    "unit",
    ["hello world ", "password=", 'key:"', "sk-abc", "\\", '\\"', "%41", "\x1b[31m", "\0", "xoxb-1234567890 ", "4111 ",
     "https://a:b@", "cookie: a=b; ", "mysql -p", "--token ", "⟦removed: ", "[truncated]", "AAAAaaaa0000+/==", "é",
     "-----BEGIN RSA PRIV" + "ATE KEY-----\n", "token: 512\n", '"name","value":', "1234567890:",
     "⟦removed: key #12345678; not a value⟧ token=hunter2x9 ", "eyJabcdefg."],
)  # fmt: skip
def test_redacting_takes_time_in_proportion_to_the_text(unit):
    """Eight times the text takes about eight times as long, not sixty-four."""

    def seconds(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        started = time.process_time()
        REDACTOR.redact_text(text)
        return time.process_time() - started

    assert seconds(160_000) < 24 * min(seconds(20_000) for _ in range(3)) + 0.05


def test_a_text_of_five_megabytes_is_gone_through():
    """And what stands at its end is found."""
    out, counts = REDACTOR.redact_text("a line of output, nothing else\n" * 160_000 + GITHUB)
    assert counts == {"github token": 1}
    assert out.endswith("not a value⟧")
