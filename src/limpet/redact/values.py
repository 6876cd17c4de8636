"""Which values can be a secret, and which only stand in its place: variables, placeholders, hashes, words, paths."""

from __future__ import annotations

import math
import re
from collections import Counter

from limpet.redact.names import word_set

LONGEST_JUDGED = 256
"""How much of a value is looked at to judge it, in characters."""

WORDS = word_set(
    """
    none null nil true false undefined yes no on off enabled disabled required optional missing invalid valid expired
    expires incorrect wrong failed failure ok success error unknown empty unset set given provided present absent
    redacted hidden masked removed secret password passwd passphrase token tokens key keys apikey api-key bearer basic
    digest oauth oauth2 jwt api string str int integer number bool boolean bytes text object array any type name value
    values example examples sample placeholder changeme change-me dummy todo tbd foo bar baz default anonymous guest
    public private same-origin include omit auto manual prompt env file keychain vault stdin ask never always here there
    the is was are be must should may can will your our their please enter paste insert use using see not for from with
    without and this that then when where which what how has have had does get got reset change update create delete
    forgot new old current confirm confirmation again length minimum maximum characters field input label header headers
    cookie cookies session login logout signin signup user username email plain plaintext generated random unchanged
    credentials credential authorization auth option maybe some varchar readonly hash hashed nopasswd all self await
    return lambda function async yield typeof pass pwd user admin-password replace-me replaceme
    """
)
"""Words that follow a name without being its value: `password: required`."""

_OPENERS = word_set(
    "please enter type your the forgot must invalid incorrect wrong missing no use choose confirm reset change is was"
    " should cannot this a an if you we for to in of with and or not be has"
)
_EMPTY = re.compile(r"[\W_]*")
_DOTS = re.compile(r"\*{3,}|•{2,}|●{2,}|x{6,}|X{6,}|\.{3,}|…|#{4,}|_{4,}")
_INSERT = re.compile(
    r"\$\{[^}]*\}?|\$\([^)]*\)?|\{\{.*?(?:\}\}|$)|<[^<>]*>|%\w+%|(?<![\w$])\$[A-Za-z_]\w*|\{[\w.()\[\]'\"]*\}"
)
_STAND_IN = re.compile(
    r"""(?ix)
    \[ [\w\s.:,-]* \]
    | __ \w+ __ | @@ .* @@ | : [a-z_]+ | \?
    | your[-_ ] .*
    | (?:my|some|insert|enter|replace|put|paste|add)[-_ ] [a-z_ -]*
      (?:key|token|secret|pass|password|here|id|value|credentials?) [a-z_ -]*
    | (?:.*[-_ .])? (?:here|example|placeholder|redacted|changeme|change[-_]me|dummy|hidden) (?:[-_ .].*)?
    | (?:env|file|vault|secret|ref|keychain|exec|sops|arn|op|gcp|aws-sm|ssm) : [^\s]*
    | ref\+ .*
    | (?:process\.env|os\.environ|os\.getenv|import\.meta\.env|secrets|env|vars|inputs|Deno\.env) [.(\[] .*
    | (.)\1{3,} | (?:.*[-_ ])? (?:x{3,}|y{3,}|z{3,})
    | -{0,2} [0-9]{1,5} (?:\.[0-9]+)?
    | (?:sha(?:1|224|256|384|512)|md5|blake[23][bs]?) [:-] [0-9a-zA-Z+/=]+
    | \$ (?:2[abxy]|argon2\w*|[156y]|apr1|pbkdf2[\w-]*|scrypt) \$ .*
    | \{ S?SHA\d* \} .* | (?:scrypt|pbkdf2) :.*
    | \# [0-9a-f]{3,8} | (?:realm|profile) = .*
    | \d{4}-\d\d-\d\d (?:[T ].*)?
    | https?://[^\s@]*
    """
)
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:|[a-z][a-z0-9_.@-]*(?=/[^/]*/))?(?:[/\\][\w@. -]*)+"
    r"|[\w./@-]+\.(?:pem|key|crt|cer|json|txt|ya?ml|env|pub|p12|pfx|conf|cfg|ini|toml|py|js|ts|sh|md)"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_SCHEME = re.compile(
    r"(?ai)(?:bearer|basic|digest|token|negotiate|apikey|api-key|bot|oauth|dpop|hawk|ssws|geniekey|key"
    r"|aws4-hmac-sha256)[ \t]+"
)
_HUMPS = re.compile(r"[a-z]{1,24}(?:[A-Z][a-z]{2,})*|(?:[A-Z][a-z]{2,})+|[A-Z]{1,24}|[A-Z][a-z]?")
_PIECE = re.compile(r"[0-9]{1,8}|(?:[a-z]+|[A-Z]{2,})?(?:[A-Z][a-z]{2,})*[A-Z]{0,5}[0-9]{0,5}")


def scheme_length(value: str) -> int:
    """Return how long the scheme before a credential is, the space included: 7 for `Bearer abc`."""
    found = _SCHEME.match(value)
    return found.end() if found else 0


def is_placeholder(value: str) -> bool:
    """Return whether a value only stands in the place of one: `$TOKEN`, `<your-key>`, `****`, a hash, a path."""
    bare = value[:LONGEST_JUDGED].strip()
    bare = bare[scheme_length(bare) :].lstrip("-+=?:")
    if len(bare) < 3 or bare.lower() in WORDS or _EMPTY.fullmatch(bare):
        return True
    if _STAND_IN.fullmatch(bare) or _is_path(bare) or _is_dotted_out(bare):
        return True
    return len(re.sub(r"\W", "", _INSERT.sub("", bare))) < 5 and _INSERT.search(bare) is not None


def is_sentence(value: str) -> bool:
    """Return whether a value is words said to people, such as `Please enter your password`."""
    tokens = [token.strip(".,:;!?'\"()").lower() for token in value[:LONGEST_JUDGED].split()]
    words = [token for token in tokens if token.isalpha()]
    talks = tokens[:1] == words[:1] and (not tokens or tokens[0] in _OPENERS or sum(w in _OPENERS for w in words) > 1)
    return len(tokens) > 1 and 3 * len(words) >= 2 * len(tokens) and talks


def is_word(value: str) -> bool:
    """Return whether a value is words and no more: letters only, in humps or all in large, joined by signs."""
    words = re.split(r"[-_. /]+", value.strip("-_. /"))
    return len(value) <= 64 and all(_HUMPS.fullmatch(word) for word in words)


def is_mixed(value: str) -> bool:
    """Return whether letters and digits, or small and large letters, are mixed as they are in no word."""
    letters = re.search(r"[A-Za-z]", value) is not None
    return (letters and re.search(r"[0-9]", value) is not None) or re.search(r"[a-z][A-Z]", value) is not None


def is_random(value: str) -> bool:
    """Return whether a value looks drawn by lot: long, mixed, of many characters; no UUID, hash, path or name."""
    bare = value[:LONGEST_JUDGED].strip()
    if len(bare) < 16 or re.search(r"\s", bare) or not is_mixed(bare) or _UUID.fullmatch(bare):
        return False
    if _HEX.fullmatch(bare) or is_placeholder(bare) or "://" in bare:
        return False
    return _entropy(bare) >= 3.0 and not is_name(bare)


def is_name(bare: str) -> bool:
    """Return whether every piece between punctuation is a word or a short number: `agent-main-2`, `fooBar.baz`."""
    return re.search(r"[\W_]", bare) is not None and is_wordy(bare)


def is_card(digits: str) -> bool:
    """Return whether digits are a card number: the length and first digits of an issuer, and the check digit (Luhn)."""
    issuer = _ISSUER.fullmatch(digits) is not None and len(set(digits)) > 1
    doubled = (int(d) * (1 + n % 2) for n, d in enumerate(reversed(digits)))
    return issuer and sum(d - 9 * (d > 9) for d in doubled) % 10 == 0


_ISSUER = re.compile(
    r"4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|220[0-4]\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14}(?:\d{3})?"
)


def _is_dotted_out(bare: str) -> bool:
    """Return whether the middle of a value is left out; one that is cut off at its end is still one."""
    pieces = _DOTS.split(bare)
    if len(pieces) == 1:
        return False
    cut = bare.endswith(("…", "..."))
    if cut and len(pieces) == 2:
        return len(pieces[0]) <= 3 or (len(pieces[0]) <= 12 and not is_mixed(pieces[0]))
    return all(len(piece) <= 8 for piece in pieces)


def _is_path(bare: str) -> bool:
    if "/" not in bare and "\\" not in bare and "." not in bare:
        return False
    return _PATH.fullmatch(bare) is not None and all(
        is_wordy(part) or not is_mixed(part) for part in re.split(r"[/\\]", bare)
    )


def is_wordy(text: str) -> bool:
    """Return whether every piece between signs is a word, perhaps with a short number behind it, or a number."""
    return all(_PIECE.fullmatch(piece) for piece in re.split(r"[\W_]+", text))


def _entropy(text: str) -> float:
    """Return the bits per character of a text, by how often each character stands in it."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())
