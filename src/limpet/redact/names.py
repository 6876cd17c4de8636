"""Which names speak of a secret: keys of objects, variables, flags, headers. Never looks at a value."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

LONGEST = 80
"""A name longer than this, in characters, is judged by its end."""


def word_set(words: str) -> frozenset[str]:
    """Return words written one after the other as a set."""
    return frozenset(words.split())


class Named(NamedTuple):
    """What a name says of its value: the kind of secret, whether surely, and whether it may be a plain word."""

    kind: str
    sure: bool
    wordy: bool


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
_SUFFIXES = word_set(
    "value values raw plain b encoded old new prod production dev staging live test main primary secondary"
    " default backup plaintext cleartext"
)
_NAMES: dict[str, Named] = {}
for _kind, _sure, _wordy, _spellings in (
    ("password", True, True, "password passwd passwort kennwort pwd pswd passwords pw contraseña"),
    ("password", True, True, "contrasena senha motdepasse wachtwoord lösenord пароль 密码 密碼 パスワード 비밀번호"),
    ("password", False, True, "pass"),
    ("passphrase", True, True, "passphrase passphrases"),
    ("secret", True, True, "secret secrets"),
    ("secret", False, False, "private"),
    ("token", True, False, "token bearer jwt"),
    ("token", False, False, "tokens auth"),
    ("api key", True, False, "apikey apikeys"),
    ("credential", True, True, "credential credentials creds cred"),
    ("cookie", True, False, "cookie cookies sessid phpsessid jsessionid"),
    ("authorization header", True, False, "authorization"),
    ("seed phrase", True, True, "mnemonic seedphrase"),
    ("one time code", True, False, "otp totp cvv cvc pin passcode"),
):
    _NAMES.update(dict.fromkeys(_spellings.split(), Named(_kind, _sure, _wordy)))
_PAIRS: dict[str, Named] = {
    "seed phrase": _NAMES["mnemonic"],
    "recovery phrase": _NAMES["mnemonic"],
    "recovery code": _NAMES["mnemonic"],
    "recovery codes": _NAMES["mnemonic"],
    "backup codes": _NAMES["mnemonic"],
    "access signature": Named("secret", sure=True, wordy=False),
    "session cookie": _NAMES["cookie"],
}
_GLUED = (
    ("password", "password passwd passwort"),
    ("passphrase", "passphrase"),
    ("api key", "apikey"),
    ("secret", "secretkey clientsecret appsecret secret"),
    ("private key", "privatekey"),
    ("key", "accesskey authkey signingkey encryptionkey masterkey sharedkey accountkey"),
    ("token", "token"),
)
_KEYS_OF_SECRETS = word_set(
    "access secret private signing sign encryption encrypt decryption master ssh deploy service auth admin app"
    " application client server consumer subscription shared preshared psk webhook bot root database db jwt hmac"
    " aes rsa pgp gpg tls ssl account ingest ingestion write read anon role api rest license licence tenant"
    " instrumentation storage integration partner merchant developer dev prod live test openai anthropic claude"
    " gemini google groq mistral cohere perplexity xai deepseek openrouter huggingface hf replicate together"
    " fireworks elevenlabs deepgram stripe github gitlab aws azure gcp cloudflare twilio sendgrid mailgun datadog"
    " newrelic sentry algolia mapbox maps brave tavily serper serpapi exa firecrawl pinecone supabase firebase"
)
_KEYS_OF_OTHER_THINGS = word_set(
    "session idempotency skill cache sort primary foreign partition project public publishable object row group"
    " dedupe dedup lane queue route conversation thread child requester target parent store index map hot short"
    " shortcut arrow translation i18n locale lookup hash range composite natural surrogate unique sub registry"
    " component react list item node tree message msg run job task chat channel peer agent tab menu function fn"
    " escape delete enter modifier meta ctrl alt any press down up config setting settings option options param"
    " parameter query attribute attr data dict json yaml property prop field column header metric label tag event"
    " topic binding trigger bundle issue model provider plugin tool lock mutex feature flag order filter"
    " compaction window"
)
_TOKENS_OF_TEXT = word_set(
    "page next continuation stop special pad padding eos bos mask unk sep cls prompt input output max min total"
    " num syntax start end first last prev previous cancel cancellation design placeholder per completion"
    " reasoning cached image audio text sync no each one single"
)
_QUESTIONS = word_set(
    "no is has skip without disable enable use show print require requires allow need needs must forgot"
)
_IDS = word_set(
    "id ids uuid guid sha hash digest checksum etag fingerprint seq ts timestamp time date from to peer sender"
    " chat channel cursor oid ref rev commit"
)


def named(name: str) -> Named | None:
    """Return what a name says of its value, or None when it speaks of no secret.

    `DB_PASSWORD`, `botToken`, `x-api-key` do; `token_count`, `max_tokens`, `author`, `sessionKey`, `PATH` do not.
    """
    return _named(name[-LONGEST:])


@lru_cache(maxsize=8192)
def _named(name: str) -> Named | None:
    words = _words(name)
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    if not words or (len(words) > 1 and words[0] in _QUESTIONS):
        return None
    before = words[-2] if len(words) > 1 else ""
    if before == "key" and words[-1] == "id" and words[-3:-2] == ["access"]:
        return Named("access key", sure=True, wordy=False)
    if words[-1] in ("key", "keys"):
        return _key(before, loud=name.isupper() and before != "")
    if words[-1] in ("token", "tokens") and before in _TOKENS_OF_TEXT:
        return None
    found = _PAIRS.get(f"{before} {words[-1]}") or _NAMES.get(words[-1]) or _glued(words[-1])
    return _surer(found, name, before)


def names_an_id(name: str) -> bool:
    """Return whether a name's value tells things apart, such as `sessionKey`, `toolCallId`, `from`."""
    return _names_an_id(name[-LONGEST:])


@lru_cache(maxsize=8192)
def _names_an_id(name: str) -> bool:
    words = _words(name)
    last, before = (words[-1:] or [""])[0], (words[-2:-1] or [""])[0]
    return last in _IDS or (last in ("key", "keys") and before in _KEYS_OF_OTHER_THINGS)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _key(before: str, *, loud: bool) -> Named | None:
    """Judge a name that ends in `key` by the word before it; in capitals any but a well-known other use is a secret."""
    if before in ("", "value") or before in _KEYS_OF_OTHER_THINGS:
        return None
    kind = {"private": "private key", "api": "api key", "access": "access key"}.get(before, "key")
    return Named(kind, sure=loud or before in _KEYS_OF_SECRETS, wordy=False)


def _glued(word: str) -> Named | None:
    for kind, ends in _GLUED:
        if word.endswith(tuple(ends.split())):
            return Named(kind, sure=True, wordy=kind.startswith("pass"))
    return None


def _surer(found: Named | None, name: str, before: str) -> Named | None:
    """`DB_PASS` in capitals and `_authToken` leave no doubt; `first pass` and `by_pass` speak of something else."""
    if found is None or found.sure:
        return found
    if before in ("by", "first", "second", "single", "two", "multi", "next", "render", "compiler", "no"):
        return None
    return found._replace(sure=True) if name.isupper() and "_" in name else found
