"""Secrets made at run time from a seed, the places where they turn up, and what only looks like them. All are fake.

They are put together from parts, so that no scanner of this repository takes one for real.
"""

from __future__ import annotations

import base64
import html
import json
import string
import urllib.parse
import uuid
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

import zstandard

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

Json = Any
UPPER, LOWER, DIGITS, HEX = string.ascii_uppercase, string.ascii_lowercase, string.digits, "0123456789abcdef"
ALNUM = UPPER + LOWER + DIGITS


def drawn(rng: random.Random, letters: str, size: int) -> str:
    """Return letters drawn by lot."""
    return "".join(rng.choices(letters, k=size))


def b64(rng: random.Random, size: int) -> str:
    """Return the base64 of random bytes."""
    return base64.b64encode(rng.randbytes(size)).decode()


def urlsafe(value: object) -> str:
    """Return JSON as base64url without padding, as in a JWT."""
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def jwt(rng: random.Random) -> str:
    """Return a signed token."""
    head = urlsafe({"alg": "HS256", "typ": "JWT"})
    return ".".join((head, urlsafe({"sub": drawn(rng, DIGITS, 10), "iat": 1777885200}), drawn(rng, ALNUM + "_-", 43)))


def pem(rng: random.Random, title: str) -> str:
    """Return a private key block."""
    lines = "\n".join(b64(rng, 48) for _ in range(4))
    return f"-----BEGIN {title}PRIV" + f"ATE KEY-----\n{lines}\n-----END {title}PRIV" + "ATE KEY-----"


def card(rng: random.Random, issuer: str, size: int) -> str:
    """Return digits of an issuer with a valid check digit."""
    body = issuer + drawn(rng, DIGITS, size - len(issuer) - 1)
    doubled = (int(d) * (2 - n % 2) for n, d in enumerate(reversed(body)))
    return body + str(-sum(d - 9 * (d > 9) for d in doubled) % 10)


def discord(rng: random.Random) -> str:
    """Return a bot token: a user id in base64, a time, a signature."""
    user = base64.b64encode(drawn(rng, "123456789", 18).encode()).decode()
    return f"{user}.{drawn(rng, ALNUM, 6)}.{drawn(rng, ALNUM + '_-', 27)}"


SHAPED: dict[str, Callable[[random.Random], str]] = {
    "anthropic": lambda r: "sk-" + "ant-api03-" + drawn(r, ALNUM + "_-", 80) + "AA",
    "openai": lambda r: "sk-" + "proj-" + drawn(r, ALNUM + "_-", 48),
    "openai, old": lambda r: "sk-" + drawn(r, ALNUM, 48),
    "openrouter": lambda r: "sk-" + "or-v1-" + drawn(r, HEX, 64),
    "groq": lambda r: "gs" + "k_" + drawn(r, ALNUM, 52),
    "xai": lambda r: "xa" + "i-" + drawn(r, ALNUM, 80),
    "perplexity": lambda r: "pp" + "lx-" + drawn(r, ALNUM, 48),
    "hugging face": lambda r: "h" + "f_" + drawn(r, ALNUM, 34),
    "replicate": lambda r: "r" + "8_" + drawn(r, ALNUM, 37),
    "nvidia": lambda r: "nv" + "api-" + drawn(r, ALNUM + "_-", 64),
    "tavily": lambda r: "tv" + "ly-" + drawn(r, ALNUM, 32),
    "langsmith": lambda r: "ls" + "v2_pt_" + drawn(r, HEX, 32) + "_" + drawn(r, HEX, 10),
    "github": lambda r: "gh" + r.choice("pousr") + "_" + drawn(r, ALNUM, 36),
    "github, fine": lambda r: "github" + "_pat_" + drawn(r, ALNUM, 22) + "_" + drawn(r, ALNUM, 59),
    "gitlab": lambda r: "gl" + "pat-" + drawn(r, ALNUM + "_-", 20),
    "aws id": lambda r: r.choice(("AK", "AS")) + "IA" + drawn(r, UPPER + "234567", 16),
    "google": lambda r: "AI" + "za" + drawn(r, ALNUM + "_-", 35),
    "google oauth": lambda r: "ya" + "29." + drawn(r, ALNUM + "_-", 120),
    "google client": lambda r: "GOC" + "SPX-" + drawn(r, ALNUM + "_-", 28),
    "slack": lambda r: "xo" + "xb-" + drawn(r, DIGITS, 12) + "-" + drawn(r, DIGITS, 12) + "-" + drawn(r, ALNUM, 24),
    "slack app": lambda r: "xa" + "pp-1-" + drawn(r, UPPER, 11) + "-" + drawn(r, DIGITS, 13) + "-" + drawn(r, HEX, 64),
    "telegram": lambda r: drawn(r, "123456789", 10) + ":" + "AA" + drawn(r, ALNUM + "_-", 33),
    "discord": discord,
    "jwt": jwt,
    "npm": lambda r: "np" + "m_" + drawn(r, ALNUM, 36),
    "pypi": lambda r: "py" + "pi-AgEIcHlwaS5vcmc" + drawn(r, ALNUM + "_-", 80),
    "rubygems": lambda r: "ruby" + "gems_" + drawn(r, HEX, 48),
    "docker": lambda r: "dckr" + "_pat_" + drawn(r, ALNUM + "_-", 27),
    "stripe": lambda r: r.choice(("s", "r")) + "k_" + r.choice(("live", "test")) + "_" + drawn(r, ALNUM, 24),
    "stripe webhook": lambda r: "wh" + "sec_" + drawn(r, ALNUM, 32),
    "sendgrid": lambda r: "S" + "G." + drawn(r, ALNUM + "_-", 22) + "." + drawn(r, ALNUM + "_-", 43),
    "twilio": lambda r: "S" + "K" + drawn(r, HEX, 32),
    "mailgun": lambda r: "ke" + "y-" + drawn(r, HEX, 32),
    "digitalocean": lambda r: "do" + "p_v1_" + drawn(r, HEX, 64),
    "shopify": lambda r: "sh" + "pat_" + drawn(r, HEX, 32),
    "square": lambda r: "sq" + "0csp-" + drawn(r, ALNUM + "_-", 43),
    "linear": lambda r: "lin" + "_api_" + drawn(r, ALNUM, 40),
    "notion": lambda r: "nt" + "n_" + drawn(r, ALNUM, 46),
    "figma": lambda r: "fi" + "gd_" + drawn(r, ALNUM + "_-", 40),
    "airtable": lambda r: "pa" + "t" + drawn(r, ALNUM, 14) + "." + drawn(r, HEX, 64),
    "atlassian": lambda r: "ATA" + "TT3" + drawn(r, ALNUM + "_-", 180) + "=" + drawn(r, "0123456789ABCDEF", 8),
    "vault": lambda r: "hv" + "s." + drawn(r, ALNUM + "_-", 90),
    "terraform": lambda r: drawn(r, ALNUM, 14) + ".atlas" + "v1." + drawn(r, ALNUM + "_-", 60),
    "age": lambda r: "AGE-SEC" + "RET-KEY-1" + drawn(r, UPPER + DIGITS, 58),
    "new relic": lambda r: "NR" + "AK-" + drawn(r, UPPER + DIGITS, 27),
    "sentry": lambda r: "sn" + "tryu_" + drawn(r, HEX, 64),
    "grafana": lambda r: "gl" + "sa_" + drawn(r, ALNUM, 32) + "_" + drawn(r, HEX, 8),
    "postman": lambda r: "PM" + "AK-" + drawn(r, HEX, 24) + "-" + drawn(r, HEX, 34),
    "supabase": lambda r: "sb" + "p_" + drawn(r, HEX, 40),
    "databricks": lambda r: "da" + "pi" + drawn(r, HEX, 32),
    "doppler": lambda r: "dp" + ".pt." + drawn(r, ALNUM, 43),
    "tailscale": lambda r: "ts" + "key-auth-" + drawn(r, ALNUM, 12) + "-" + drawn(r, ALNUM, 32),
    "azure": lambda r: drawn(r, ALNUM, 3) + "8Q" + "~" + drawn(r, ALNUM + "_~.-", 33) + "x",
    "alibaba": lambda r: "LT" + "AI" + drawn(r, ALNUM, 20),
    "private key, rsa": lambda r: pem(r, "RSA "),
    "private key, openssh": lambda r: pem(r, "OPENSSH "),
    "private key": lambda r: pem(r, ""),
    "card, visa": lambda r: card(r, "4", 16),
    "card, mastercard": lambda r: card(r, r.choice(("51", "55")), 16),
    "card, amex": lambda r: card(r, r.choice(("34", "37")), 15),
}
"""Kinds that can be told by their shape."""

NAMED: dict[str, Callable[[random.Random], str]] = {
    "password": lambda r: "hun" + drawn(r, LOWER + DIGITS, 6) + "-" + drawn(r, ALNUM, 5) + "!9" + drawn(r, ALNUM, 2),
    "hex": lambda r: drawn(r, HEX, 32),
    "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
    "base64": lambda r: b64(r, 30),
    "aws secret": lambda r: drawn(r, ALNUM, 12) + "/" + drawn(r, ALNUM, 13) + "+" + drawn(r, ALNUM, 13),
}
"""Values that only a name gives away."""

NAMES = (
    "DB_PASSWORD", "password", "apiKey", "x-api-key", "AWS_SECRET_ACCESS_KEY", "client_secret", "botToken", "ACCESS_TOKEN",
    "refresh_token", "privateKey", "ENCRYPTION_KEY", "gateway.auth.token", "PGPASSWORD", "webhookSecret", "passphrase",
    "SIGNING_KEY", "authToken", "credentials", "STRIPE_KEY", "apikey",
)  # fmt: skip


def nested(value: Json, depth: int) -> Json:
    """Return a value with that many levels around it."""
    for level in range(depth):
        value = {"inner": value, "n": level} if level % 2 else [0, value, None]
    return value


ANYWHERE: dict[str, Callable[[str], Json]] = {
    "in a sentence": lambda s: {"text": f"I will use {s} from now on."},
    "glued": lambda s: {"text": f"id=7;x:{s};"},
    "glued to letters": lambda s: {"text": f"foo{s}bar"},
    "glued to signs": lambda s: {"text": f"a/{s}/b-{s}_c"},
    "alone and deep": lambda s: nested(s, 1 + len(s) % 40),
    "as a key": lambda s: {"seen": {s: 1}},
    "in JSON in a string": lambda s: {"raw": json.dumps({"out": [s]})},
    "in JSON in JSON in a string": lambda s: {"raw": json.dumps({"x": json.dumps({"out": s, "n": 1})})},
    "in a URL, encoded": lambda s: {"url": f"https://example.test/?q={urllib.parse.quote(s, safe='')}&n=1"},
    "in HTML": lambda s: {"page": f"<td title=&quot;{html.escape(s)}&quot;>x</td>"},
    "between colours": lambda s: {"out": f"\x1b[32m{s[:9]}\x1b[0m\x1b[01;31m{s[9:]}\x1b[K\x1b[m ok"},
    "in UTF-16": lambda s: {"out": "\0".join(f"key {s} end")},
    "with zero-width spaces": lambda s: {"out": f"{s[:5]}\u200b{s[5:]}"},
    "in a log": lambda s: {"out": f"2026-11-30 12:00:00 INFO start\n2026-11-30 12:00:01 WARN got {s}\nend"},
    "in markdown": lambda s: {"text": f"Use `{s}`:\n```\n{s}\n```"},
    "in a file name": lambda s: {"path": f"/home/sam/keys/{s}.txt"},
    "in a tool name": lambda s: {"toolName": f"mcp__{s}"},
    "among arguments": lambda s: {"argv": ["curl", "-H", f"x: {s}", "https://example.test"]},
    "twice": lambda s: {"a": s, "b": f"again {s}"},
}
"""Places for what has a shape; each takes the secret."""

CUTS: dict[str, Callable[[str], Json]] = {
    "at the end": lambda half: {"out": f"the value is {half}"},
    "before a mark": lambda half: {"out": f"the value is {half}…[truncated 812 chars]"},
    "in JSON in a string": lambda half: {"out": json.dumps({"v": half})[:-2]},
    "at the end of a line": lambda half: {"out": f"{half}\nnext line"},
}
"""Ways to cut a text in the middle of a secret."""

BY_NAME: dict[str, Callable[[str, str], Json]] = {
    "env": lambda n, s: {"out": f"PATH=/usr/bin\n{variable(n)}={s}\nHOME=/home/sam"},
    "export": lambda n, s: {"command": f'export {variable(n)}="{s}" && make'},
    "object": lambda n, s: {"config": {"deep": [{n: s}]}},
    "JSON in a string": lambda n, s: {"raw": json.dumps({"env": {n: s, "other": "x"}})},
    "JSON in JSON in a string": lambda n, s: {"raw": json.dumps({"a": json.dumps({n: s, "other": "x"})})},
    "pretty JSON in a string": lambda n, s: {"raw": json.dumps({"env": {n: s, "other": "x"}}, indent=2)},
    "python": lambda n, s: {"out": repr({n: s, "other": 1})},
    "yaml": lambda n, s: {"out": f"server:\n  {n}: {s}\n  port: 8080\n"},
    "ini": lambda n, s: {"out": f"[db]\n{n} = {s}\nuser = app"},
    "flag": lambda n, s: {"command": f"tool --{n.lower()} {s} --verbose"},
    "flag with equals sign": lambda n, s: {"command": f"tool --{n.lower()}={s} --verbose"},
    "arguments": lambda n, s: {"argv": ["tool", f"--{n.lower()}", s, "--verbose"]},
    "name and value": lambda n, s: {"env": [{"name": n, "value": s}]},
    "name and value in a string": lambda n, s: {"out": json.dumps([{"name": n, "value": s}])},
    "header": lambda n, s: {"command": f"curl -H '{n}: {s}' https://example.test"},
    "xml": lambda n, s: {"out": f"<server><{n}>{html.escape(s)}</{n}></server>"},
    "query": lambda n, s: {"url": f"https://example.test/cb?{n}={urllib.parse.quote(s, safe='')}&x=1"},
    "table": lambda n, s: {"out": f"| name | value |\n| {n} | {s} |"},
    "cut off": lambda n, s: {"out": f"{variable(n)}={s[:14]}"},
    "cut off in JSON": lambda n, s: {"out": json.dumps({n: s})[: len(n) + 6 + 14]},
}
"""Places where the name stands beside the value."""

WITHOUT_NAME: dict[str, Callable[[str], Json]] = {
    "password in a URL": lambda s: {"dsn": f"postgres://app:{urllib.parse.quote(s, safe='')}@db.example.test:5432/x"},
    "bearer": lambda s: {"headers": {"Authorization": f"Bearer {s}"}},
    "bearer in a command": lambda s: {"command": f"curl -H 'Authorization: Bearer {s}' https://example.test"},
    "basic": lambda s: {"out": "Authorization: Basic " + base64.b64encode(f"app:{s}".encode()).decode()},
    "cookie": lambda s: {"headers": {"Cookie": f"theme=dark; sid={s}"}},
    "cookie in a command": lambda s: {"command": f"curl --cookie 'sid={s}' https://example.test"},
    "set-cookie": lambda s: {"out": f"HTTP/1.1 200\r\nSet-Cookie: sid={s}; Path=/; HttpOnly\r\n\r\n"},
    "mysql": lambda s: {"command": f"mysql -uroot -p{s} shop"},
    "curl": lambda s: {"command": f"curl -u 'bob:{s}' https://example.test"},
    "sshpass": lambda s: {"command": f"sshpass -p '{s}' ssh host"},
    "docker": lambda s: {"command": f"docker login -u bob -p {s} registry.example.test"},
    "netrc": lambda s: {"out": f"machine example.test login bob password {s}\n"},
    "sql": lambda s: {"query": f"CREATE USER bob IDENTIFIED BY '{s}';"},
    "said": lambda s: {"content": f"my password is {s}, please save it"},
}
"""Places that need no name."""


def shown(rng: random.Random, kind: str) -> int:
    """Return how many characters of a secret a cut leaves: at least its beginning and twelve more."""
    fixed = {
        "private key": 44,
        "private key, rsa": 48,
        "private key, openssh": 52,
        "terraform": 24,
        "airtable": 28,
        "age": 18,
    }
    whole = 10**6 if kind.startswith("card") else 0  # the first digits of a card say nothing
    return max(whole, fixed.get(kind, 12), rng.randint(12, 40))


def variable(name: str) -> str:
    """Return a name as an environment has it."""
    return (
        "".join("_" * (c.isupper() and p.islower()) + c for p, c in zip(" " + name, name, strict=False))
        .upper()
        .replace("-", "_")
        .replace(".", "_")
    )


def look_alikes(rng: random.Random) -> dict[str, Json]:
    """Return things that are no secrets, by what they are."""
    hexed = drawn(rng, HEX, 40)
    return {
        "git hash": f"commit {hexed}",
        "short hash": hexed[:7],
        "sha256": f"sha256:{drawn(rng, HEX, 64)}",
        "digest in a field": {"checksum": drawn(rng, HEX, 64), "etag": f'W/"{drawn(rng, HEX, 32)}"'},
        "uuid": {"sessionId": NAMED["uuid"](rng), "text": f"run {NAMED['uuid'](rng)} ended"},
        "call id": {"toolCallId": "call_" + drawn(rng, ALNUM, 24), "text": f"id call_{drawn(rng, ALNUM, 24)}"},
        "ids of providers": [f"{p}_{drawn(rng, ALNUM, 24)}" for p in ("toolu", "msg", "resp", "chatcmpl", "fc", "req")],
        "chat completion": {"responseId": f"chatcmpl-{drawn(rng, ALNUM, 29)}"},
        "session key": {"sessionKey": f"agent:main:subagent:{NAMED['uuid'](rng)}"},
        "idempotency key": {"idempotencyKey": f"{NAMED['uuid'](rng)}:user"},
        "variable": {"password": "$TOKEN", "command": 'curl -H "Authorization: Bearer $TOKEN" -u $USER:$PASS'},
        "variable in braces": {"env": "API_KEY=${API_KEY}\nTOKEN=${TOKEN:-none}\nSECRET=$(cat x)"},
        "template": {"apiKey": "{{ secrets.API_KEY }}", "token": "%TOKEN%", "yaml": "token: ${{ secrets.TOKEN }}"},
        "placeholder": {"apiKey": "<your-key>", "token": "your-token-here", "text": "export API_KEY=<your-key>"},
        "stars": {"password": "********", "text": "password: ****  token=***"},
        "masked": {"token": "sk-...abcd", "text": "key sk-…wxyz, ghp_****1234"},
        "code": "token = get_token()\npassword: str\nconst apiKey = process.env.API_KEY;\nself.password = password",
        "counts": {"totalTokens": 15894, "max_tokens": 4096, "usage": "tokens: 512, max_tokens=4096, token_count: 7"},
        "words": "The secret garden. Author: Jane. A token of thanks. Press any key: Enter. The password reset failed.",
        "prose": "password: required, token expired, the secret is missing, authorization: none, key: value",
        "type": {"auth": "token", "credentials": "include", "authorization": "Bearer", "password": None, "key": "Enter"},
        "schema": {"password": {"type": "string", "description": "The password"}, "required": ["password", "token"]},
        "label": {"password": "Please enter your password", "token": "Your token is invalid"},
        "paths": {"env": "PATH=/usr/local/bin:/usr/bin\nHOME=/home/sam\nPWD=/home/sam/work\nSSH_AUTH_SOCK=/tmp/a.sock"},
        "key file": {"GOOGLE_APPLICATION_CREDENTIALS": "/etc/gcp/key.json", "command": "ssh -i ~/.ssh/id_ed25519 host"},
        "public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + drawn(rng, ALNUM, 43) + " sam@example",
        "numbers": f"epoch {1777885200000 + rng.randrange(10**9)} and {rng.randrange(10**15, 2 * 10**15)}",
        "no card": card(rng, "4", 16)[:-1] + "x",
        "wrong check digit": str(int(card(rng, "4", 16)) ^ 1),
        "snowflake": {"messageId": "14975499237790" + drawn(rng, DIGITS, 5)},
        "url": f"https://example.test:8080/a/b?page_token=&q=token&id={NAMED['uuid'](rng)}#key",
        "mail": "git@github.com:sam/repo.git and sam@example.test",
        "version": "v2.31.0-rc.1 build 20261130.4 sk-learn-style risk-free task_test_case hf_hub npm_config_cache",
        "data": {"payload": b64(rng, 60), "text": "lorem " * 20},
        "time": "2026-11-30T12:00:00.000Z 12:00:00 4111-11-11",
        "bcrypt": {"password_hash": "$2b$12$" + drawn(rng, ALNUM + "./", 53)},
        "reference": {"password": "op://vault/item/field", "token": "env:GITHUB_TOKEN", "secret": "secret:prod/db"},
        "shell": "sort -k 2 -p x; ssh -p 2222 host; mkdir -p /tmp/a; curl -u $USER: https://example.test",
        "flags": {"argv": ["tool", "--token-file", "/run/t", "--max-tokens", "4096", "--auth", "basic"]},
        "sign": {"key": "ArrowUp", "keys": ["Control", "c"], "sortKey": "name", "cacheKey": f"v1-{drawn(rng, HEX, 16)}"},
    }  # fmt: skip


def plantings(seed: int) -> list[tuple[str, str, object]]:
    """Return at least 1,000 secrets with where they stand and the value that holds them: each kind, each place."""
    rng = Random(seed)
    made = []
    for kind, draw in SHAPED.items():
        for place in rng.sample(sorted(ANYWHERE), 10):
            secret = draw(rng)
            made.append((f"{kind} {place}", secret, ANYWHERE[place](secret)))
        for place, cut in CUTS.items():
            half = draw(rng)[: shown(rng, kind)]
            made.append((f"{kind} cut {place}", half, cut(half)))
    for kind, draw in NAMED.items():
        for place, stand in BY_NAME.items():
            name, secret = rng.choice(NAMES), draw(rng)
            made.append((f"{kind} {place} {name}", secret[:14] if "cut" in place else secret, stand(name, secret)))
        for place, put in WITHOUT_NAME.items():
            secret = draw(rng)
            made.append((f"{kind} {place}", secret, put(secret)))
    return made


def unpacked(path: Path) -> bytes:
    """Return a file's bytes, followed by everything in it that is compressed: zstd frames anywhere."""
    content = path.read_bytes()
    parts = [content]
    at = content.find(zstandard.FRAME_HEADER)
    while at >= 0:
        with suppress(zstandard.ZstdError):
            parts.append(zstandard.ZstdDecompressor().decompressobj().decompress(content[at:]))
        at = content.find(zstandard.FRAME_HEADER, at + 1)
    return b"\n".join(parts)
