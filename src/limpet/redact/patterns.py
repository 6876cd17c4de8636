"""Secrets that can be told by their shape alone, kind by kind. Not for those that only a name gives away.

A pattern also matches what a cut left of a secret: a known beginning and enough more that twelve characters never stay.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

from limpet.redact.values import is_card, is_mixed, is_name, is_placeholder, is_random, is_word

if TYPE_CHECKING:
    from collections.abc import Callable

CUT = r"(?:\z|[\n\"'\\]|…|\.\.\.|[ ]?[\[(<⟦]{0,2}(?:truncated|cut|omitted))"
"""Where a text was cut off, or ends."""

RANK_SHAPE, RANK_AROUND = 0, 1


class Shape(NamedTuple):
    """A kind and its pattern (RE2); its group 1, or all of it, is the secret if `holds` says so.

    `holds` is given the text and what stands directly before and after it. `hint` is a cheaper pattern that is
    found wherever the pattern is; empty: the pattern itself.
    """

    kind: str
    pattern: str
    holds: Callable[[str, str, str], bool]
    rank: int = RANK_SHAPE
    hint: str = ""


def _loose(secret: str, before: str, _after: str) -> bool:
    return not is_placeholder(secret) and (not before[-1:].isalnum() or is_mixed(secret[5:]))


def _strict(secret: str, before: str, _after: str) -> bool:
    """For a beginning that words have, too."""
    glued = before[-1:].isalnum()
    return not is_placeholder(secret) and is_mixed(secret[3:]) and (not glued or is_random(secret))


def _google(secret: str, before: str, after: str) -> bool:
    """Judge a Google key, whose beginning the public keys of SSH have by chance after a row of A's."""
    return _loose(secret, before, after) and not before.endswith("AAA")


def _unnamed(secret: str, before: str, after: str) -> bool:
    """For a beginning that names have, too."""
    return _strict(secret, before, after) and not is_name(secret)


def _edged(secret: str, before: str, _after: str) -> bool:
    """For a beginning so short that random letters have it, too: glued to others only a whole secret counts."""
    if before[-1:].isalnum():
        return len(secret) >= 34 and is_random(secret)
    return not (is_name(secret) or is_placeholder(secret)) and is_mixed(secret[2:])


def _always(_secret: str, _before: str, _after: str) -> bool:
    return True


def _card(secret: str, before: str, after: str) -> bool:
    """Judge a card number, which is no part of a hash, of a UUID or of a decimal number."""
    run = _LETTERS_BEFORE.search(before)[0] + _LETTERS_AFTER.match(after)[0]  # type: ignore[index]
    beside = f"{before[-2:]}#{after[:2]}"
    if _OF_A_NUMBER.search(beside) or ("-" in secret and _OF_A_UUID.search(beside)) or (run and _HEX.fullmatch(run)):
        return False
    return is_card("".join(c for c in secret if c.isdigit()))


_LETTERS_BEFORE = re.compile(r"[A-Za-z0-9]*\Z")
_LETTERS_AFTER = re.compile(r"[A-Za-z0-9]*")
_HEX = re.compile(r"[0-9a-fA-F]+")
_OF_A_NUMBER = re.compile(r"[0-9]\.#|#\.[0-9]")
_OF_A_UUID = re.compile(r"[A-Za-z0-9]-#|#-[A-Za-z0-9]")


def _in_url(secret: str, _before: str, _after: str) -> bool:
    """Judge a password in a URL: it may hold a slash, but a port is none."""
    return not is_placeholder(secret) and not secret.partition("/")[0].isdigit()


def _random(secret: str, _before: str, _after: str) -> bool:
    return is_random(secret)


def _bearer(secret: str, _before: str, _after: str) -> bool:
    if is_placeholder(secret) or not (is_mixed(secret) or len(secret) >= 24):
        return False
    return any(c.isdigit() for c in secret) or (len(secret) >= 16 and not is_word(secret))


def _basic(secret: str, _before: str, _after: str) -> bool:
    """User and password with a colon between them, in base64, perhaps cut off."""
    letters = secret.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        pair = base64.b64decode(letters[: len(letters) // 4 * 4])
    except binascii.Error:
        return False
    return b":" in pair and pair.isascii()


_SHAPES: tuple[tuple[str, str], ...] = (
    ("anthropic key", r"sk-ant-[A-Za-z0-9_-]{3,}"),
    ("openrouter key", r"sk-or-v1-[0-9a-f]{3,}"),
    ("openai key", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{3,}"),
    ("langfuse key", r"sk-lf-[0-9a-f-]{6,}"),
    ("stripe key", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{3,}|whsec_[A-Za-z0-9+/=]{6,}"),
    ("github token", r"gh[pousr]_[A-Za-z0-9]{8,}|github_pat_[A-Za-z0-9_]+"),
    ("gitlab token", r"gl(?:pat|dt|rt|ft|soat|cbt|ptt|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{5,}"),
    ("aws access key", r"A(?:KI|SI|BI|CC)A[A-Z0-9]{8,}"),
    ("aws session token", r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]*"),
    ("google token", r"ya29\.[A-Za-z0-9_.-]{7,}|GOCSPX-[A-Za-z0-9_-]{5,}|1//0[A-Za-z0-9_-]{7,}|4/0A[A-Za-z0-9_-]{20,}"),
    ("slack token", r"xox[abeoprs]-[A-Za-z0-9-]{7,}|xapp-[A-Za-z0-9-]{7,}"),
    ("slack webhook", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{4,})"),
    ("discord webhook", r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/([A-Za-z0-9_-]{4,})"),
    ("teams webhook", r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{8,})"),
    ("telegram token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{10,}"),
    ("telegram token", rf"([0-9]{{8,10}}:AA?[A-Za-z0-9_-]{{0,9}}){CUT}"),
    (
        "discord token",
        r"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5,7}[A-Za-z0-9_-]{0,3}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)?",
    ),
    ("discord token", rf"((?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){{3,7}}[A-Za-z0-9_-]{{0,3}}){CUT}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{6,}\.(?:eyJ|[A-Za-z0-9_-]{6,})[A-Za-z0-9_.-]*"),
    ("jwt", r"eyJ(?:hbGciOi|0eXAiOi|raWQiOi|lbmMiOi|jdHkiOi|4NXQi|qa3Ui|hdWQi)[A-Za-z0-9_.-]*"),
    ("pypi token", r"pypi-AgE[A-Za-z0-9_-]{4,}"),
    ("rubygems key", r"rubygems_[0-9a-f]{3,}"),
    ("docker token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{2,}"),
    ("digitalocean token", r"do[oprt]_v1_[0-9a-f]{5,}"),
    ("linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{3,}"),
    ("figma token", r"fig[dur]_[A-Za-z0-9_-]{7,}"),
    ("atlassian token", r"AT[AC]TT3[A-Za-z0-9_=-]{6,}|ATBB[A-Za-z0-9]{8,}"),
    ("shopify token", r"shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{5,}"),
    ("sendgrid key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("square token", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{2,}"),
    ("square token", r"(?:^|[^A-Za-z0-9+/=])(EAAA[A-Za-z0-9_-]{50,})"),
    ("facebook token", r"(?:^|[^A-Za-z0-9+/=])(EAA[A-Z][A-Za-z0-9]{60,})"),
    ("dropbox token", r"(?:^|[^A-Za-z0-9])(sl\.(?:u\.)?[A-Za-z0-9_-]{40,})"),
    ("vault token", r"hv[sbr]\.[A-Za-z0-9_-]{8,}"),
    ("terraform token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]+"),
    ("age key", r"AGE-SECRET-K[0-9A-Za-z-]*"),
    ("new relic key", r"NR(?:AK|JS|IQ|RA|II)-[A-Za-z0-9-]{7,}"),
    ("sentry token", r"sntry[su]_[A-Za-z0-9_=+/-]{5,}"),
    ("grafana token", r"gl(?:sa|c)_[A-Za-z0-9_=+/-]{7,}"),
    ("postman key", r"PMAK-[0-9a-f-]{7,}"),
    ("supabase key", r"sbp_[0-9a-f]{8,}|sb_secret_[A-Za-z0-9_-]{2,}"),
    ("planetscale token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]+"),
    ("doppler token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{5,}"),
    ("fly token", r"fo1_[A-Za-z0-9_-]{8,}|fm[12][ar]?_[A-Za-z0-9+/=_,-]{8,}"),
    ("groq key", r"gsk_[A-Za-z0-9]{8,}"),
    ("xai key", r"xai-[A-Za-z0-9]{8,}"),
    ("perplexity key", r"pplx-[A-Za-z0-9]{7,}"),
    ("nvidia key", r"nvapi-[A-Za-z0-9_-]{6,}"),
    ("tavily key", r"tvly-[A-Za-z0-9-]{7,}"),
    ("langsmith key", r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{4,}"),
    ("heroku key", r"HRKU-[A-Za-z0-9_-]{7,}"),
    ("cloudflare key", r"v1\.0-[0-9a-f]{24}-[0-9a-f]+"),
    ("alibaba key", r"LTAI[A-Za-z0-9]{8,}"),
    ("tencent key", r"AKID[A-Za-z0-9]{8,}"),
    ("contentful token", r"CFPAT-[A-Za-z0-9_-]{6,}"),
    ("dynatrace token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{5,}(?:\.[A-Z0-9]*)?"),
    ("tailscale key", r"tskey-[a-z]+-[A-Za-z0-9-]+"),
    ("1password token", r"ops_eyJ[A-Za-z0-9_+/=-]{5,}"),
    ("nostr key", r"nsec1[a-z0-9]{7,}"),
    ("azure secret", r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{6,}"),
    ("circleci token", r"CCIPAT_[A-Za-z0-9_]{5,}"),
    ("buildkite token", r"bkua_[0-9a-f]{7,}"),
)
_STRICT_SHAPES: tuple[tuple[str, str], ...] = (
    ("npm token", r"npm_[A-Za-z0-9]{8,}"),
    ("hugging face token", r"(?:hf|api_org)_[A-Za-z0-9]{9,}"),
    ("notion token", r"ntn_[A-Za-z0-9]{8,}|secret_[A-Za-z0-9]{12,}"),
    ("posthog key", r"phx_[A-Za-z0-9]{8,}"),
    ("matrix token", r"syt_[A-Za-z0-9=_-]{8,}"),
)
_EDGED_SHAPES: tuple[tuple[str, str], ...] = (
    ("elevenlabs key", r"sk_[0-9a-f]{9,}"),
    ("sendgrid key", r"SG\.[A-Za-z0-9_-]{9,30}(?:\.[A-Za-z0-9_-]*)?"),
    ("mailgun key", r"key-[0-9a-f]{8,}"),
    ("mailchimp key", r"[0-9a-f]{32}-us[0-9]{1,2}\b"),
    ("twilio key", r"SK[0-9a-f]{10,}"),
    ("databricks token", r"dapi[0-9a-f]{8,}"),
    ("replicate token", r"r8_[A-Za-z0-9]{9,}"),
    ("firecrawl key", r"fc-[0-9a-f]{9,}"),
    ("netlify token", r"nf[pcou]_[A-Za-z0-9]{8,}"),
    ("airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{8,}"),
    ("pulumi token", r"pul-[0-9a-f]{8,}"),
)
_KEY_BEGINS = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_KEY_ENDS = r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_KEY_LINE = r"\n[ \t>|0-9:.#*\"'+-]{0,12}[A-Za-z0-9+/=]{16,}"
_URL = r"[A-Za-z][A-Za-z0-9+.-]*://"
_AROUND: tuple[Shape, ...] = (
    Shape("private key", rf"(?s){_KEY_BEGINS}.*?{_KEY_ENDS}", _always, hint=_KEY_BEGINS),
    Shape(
        "private key",
        rf"{_KEY_BEGINS}(?:\n[A-Za-z-]+: [^\n]*|{_KEY_LINE}|[A-Za-z0-9+/=\s])*(?:-{{1,5}}(?:END?)?[A-Z0-9 ]*-{{0,5}})?",
        _always,
        hint=_KEY_BEGINS,
    ),
    Shape(
        "private key",
        rf"(?:[A-Za-z0-9+/]{{16,}}={{0,2}}\s+)*[A-Za-z0-9+/]*={{0,2}}\s*{_KEY_ENDS}",
        _always,
        hint=_KEY_ENDS,
    ),
    Shape("private key", r"b3BlbnNzaC1[A-Za-z0-9+/=]*(?:\s+[A-Za-z0-9+/=]{16,})*", _always),
    Shape(
        "private key",
        r"(?i)Private-Lines: [0-9]+((?:\s+[A-Za-z0-9+/=]{16,})*(?:\s+[A-Za-z0-9+/]+={0,2})?)",
        _always,
        hint=r"(?i)Private-Lines: [0-9]",
    ),
    Shape(
        "password in url",
        _URL + r"[^\s/:@\"'<>]*:([^\s\"'<>@]+(?:@[^\s\"'<>@/?#]+)*)@",
        _in_url,
        RANK_AROUND,
        hint=r"://[^\s/:@\"'<>]*:[^\s\"'<>@]+@",
    ),
    Shape("token in url", _URL + r"([A-Za-z0-9_.~%-]{16,})@", _random, RANK_AROUND, hint=r"://[A-Za-z0-9_.~%-]{16,}@"),
    Shape(
        "signed url",
        r"(?i)[?&](?:sig|signature|x-amz-signature|x-goog-signature|sas|hmac|ticket|assertion)="
        r"([A-Za-z0-9%._~+/=-]{8,})",
        _strict,
        RANK_AROUND,
    ),
    Shape("signed url", r"(?i)[?&]code=([A-Za-z0-9%._~+/=-]{12,})", _random, RANK_AROUND),
    Shape("bearer token", r"(?i)\bbearer[ \t:]+[\"']?([A-Za-z0-9._~+/=-]{6,})", _bearer, RANK_AROUND),
    Shape("basic credentials", r"(?i)\bbasic[ \t]+([A-Za-z0-9+/_-]{8,}={0,2})", _basic, RANK_AROUND),
)
CARD = Shape(
    "card number",
    r"(?:^|[^0-9])([2-6][0-9]{3}(?:(?:[ -]?[0-9]{4}){3}(?:[ -]?[0-9]{3})?|[ -]?[0-9]{6}[ -]?[0-9]{4,5}))(?:$|[^0-9])",
    _card,
)

SHAPES: tuple[Shape, ...] = (
    *(Shape(kind, pattern, _loose) for kind, pattern in _SHAPES),
    *(Shape(kind, pattern, _strict) for kind, pattern in _STRICT_SHAPES),
    *(Shape(kind, pattern, _edged) for kind, pattern in _EDGED_SHAPES),
    Shape("google key", r"AIza[A-Za-z0-9_-]{8,}", _google),
    Shape("api key", r"sk-[A-Za-z0-9][A-Za-z0-9_-]{8,}", _unnamed, RANK_AROUND),
    *_AROUND,
    CARD,
)
"""Every kind that has a shape of its own."""
