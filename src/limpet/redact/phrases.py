"""Secrets that only the words before them give away: `DB_PASSWORD=…`, `--token …`, `"apiKey": "…"`, `mysql -p…`.

A lead is a pattern (RE2) that ends where the value begins; what it names, and the value, say whether it counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from limpet.redact.names import named
from limpet.redact.reading import OF_SEVERAL_WORDS
from limpet.redact.values import is_mixed, is_name, is_placeholder, is_random, is_sentence, is_word, is_wordy

if TYPE_CHECKING:
    from collections.abc import Callable

    from limpet.redact.names import Named

_ROOT = (
    r"(?:(?:api|access|secret|private|signing|auth|client|master) keys?"
    r"|pass(?:w(?:or)?d|wort|phrase|code)?s?|pwd|pswd|kennwort|contrase[nñ]a|senha|пароль|密码|secrets?|tokens?"
    r"|credentials?|creds?|cookies?|auth(?:orization)?|bearer|jwt|keys?|private|mnemonic|seed[ _-]?phrase"
    r"|recovery[ _-]?(?:phrase|codes?)|backup[ _-]?codes?|t?otp|cv[vc]|pin|sess(?:ion)?id"
    r"|access[_-]?key[_-]?id|access[_-]?signature)"
)
_SUFFIX = (
    r"(?:[_.-]?(?:value|raw|plain|b64|base64|encoded|old|new|prod|production|dev|staging|live|test|main|primary"
    r"|secondary|default|backup|[0-9]{1,3})){0,2}"
)
_ROOT_WORD = re.compile(r"(?i)passw|passphrase|secret|token|cred|cookie|auth|key")
_BEGINNING = r"[A-Za-z0-9_.-]*"
_NAME = rf"{_BEGINNING}{_ROOT}{_SUFFIX}"
_CALL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)*[(\[]")
_MEMBER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+!?")
_TYPE = re.compile(
    r"[A-Z][A-Za-z0-9]{2,40}(?:Key|Token|Cookies?|Credentials?|Password|Secret|Auth)|"
    r"[A-Za-z]{0,40}(?:Str|String|Type|Types|Bytes|Field|Input|Config|Options|Props|Schema|Model|Provider|[a-z]T)"
)
_STANDARD = re.compile(r"(?i)(?:base|sha|utf|md|aes|rsa|[hre]s|ed|ip[v]|oauth|v)-?[0-9].*|[0-9.]+[a-z%]{1,3}")


class Said(NamedTuple):
    """What stands in a text: a value, what its name says of it, whether it is quoted, and the lead before it."""

    value: str
    name: Named
    quote: str
    lead: str
    after: str


class Lead(NamedTuple):
    """A pattern that ends where a value begins. Its group 1 is the name, unless `kind` says what the value is.

    Where a value follows, `pattern` and `follows` match one after the other.
    """

    pattern: str
    counts: Callable[[Said], bool]
    kind: str = ""
    follows: str = r"""["'`]{0,3}[^\s"'`,;&|]"""

    @property
    def hint(self) -> str:
        """What is found wherever the pattern is and a value may begin; how its name begins makes no difference."""
        return self.pattern.replace(f"(?i)({_BEGINNING}", "(?i)(") + self.follows


def counts_under(name: Named, value: str, *, words: bool = True) -> bool:
    """Return whether a value that stands under such a name is a secret, when nothing else speaks against it.

    `words` says whether plain words may be one, too, where the name is of a kind that usually is drawn by lot.
    """
    if name.kind == "one time code":
        return value.isalnum() and 3 <= len(value) <= 10 and any(c.isdigit() for c in value)
    if is_placeholder(value) or is_sentence(value) or _is_a_name(value):
        return False
    if not name.sure:
        return is_random(value) or (name.wordy and is_mixed(value) and not is_name(value))
    return words or name.wordy or not is_word(value)


def _is_a_name(value: str) -> bool:
    """Return whether a value is itself the name of a secret, such as `shared-secret` or `YOUR_BOT_TOKEN`."""
    return is_word(value) and not value.isalpha() and named(value) is not None


def _assigned(said: Said) -> bool:
    if not said.quote and (_is_code(said) or _is_prose(said)):
        return False
    if said.value.startswith((" ", "--")) or (said.quote == "`" and " " in said.value):
        return False
    in_table = said.lead.rstrip().endswith(("|", "│"))
    return counts_under(said.name, said.value, words=_may_be_words(said)) and (not in_table or is_mixed(said.value))


def _may_be_words(said: Said) -> bool:
    """In an environment anything can be a secret; in quotes anything but a single word, which code is full of."""
    lone = said.value.isalpha() and len(said.value) <= 12
    return (said.quote != "" and not lone and not said.lead.rstrip().endswith("==")) or _is_loud(said.lead)


def _is_loud(lead: str) -> bool:
    """Return whether a lead is that of an environment variable, such as `API_KEY=`."""
    return lead.endswith("=") and lead[:-1].isupper()


def _is_prose(said: Said) -> bool:
    """Return whether more words follow a word after a colon, as in `secret: keep it out of logs`."""
    if said.name.kind in OF_SEVERAL_WORDS:
        return False
    return said.lead.rstrip().endswith(":") and is_word(said.value) and _MORE_WORDS.match(said.after) is not None


_MORE_WORDS = re.compile(r"[,;]?(?: [A-Za-z'-]+){2}")


def _flagged(said: Said) -> bool:
    return not said.value.startswith("-") and counts_under(said.name, said.value)


def _set(said: Said) -> bool:
    return said.name.sure and not is_word(said.value) and _flagged(said)


def _told(said: Said) -> bool:
    """Judge `the password is …`, where most that follows is no value but a word, a number, a standard."""
    if is_placeholder(said.value) or is_name(said.value) or not is_mixed(said.value):
        return False
    short = said.name.kind != "password" and not is_random(said.value)
    return len(said.value) >= (10 if short else 5) and _STANDARD.fullmatch(said.value) is None


def _element(said: Said) -> bool:
    return said.name.sure and said.after[:2] in ("", "<", "</") and counts_under(said.name, said.value)


def _argument(said: Said) -> bool:
    return not said.value.startswith("-") and not is_placeholder(said.value)


def _piped(said: Said) -> bool:
    return _argument(said) and _INTO_A_PROMPT.match(said.after) is not None


_INTO_A_PROMPT = re.compile(
    r"[\"']?\s*\|\s*(?:sudo\s+-\w*S|chpasswd|cryptsetup|[^|\n]*(?:--password-stdin|--passphrase-fd))"
)


def _quoted(said: Said) -> bool:
    return said.quote in ("'", '"') and not is_placeholder(said.value)


def _is_code(said: Said) -> bool:
    """Return whether a bare value is an expression, a reference, or a variable named like what it holds."""
    if _is_loud(said.lead):
        return False
    if said.lead.endswith(":") and "/" in said.value and is_word(said.value):  # secret:prod/db
        return True
    if said.value[0] in "()[]{}" or _CALL.match(said.value) or _TYPE.fullmatch(said.value):
        return True
    wordy = is_wordy(said.value)
    return wordy and (_MEMBER.fullmatch(said.value) is not None or _ROOT_WORD.search(said.value) is not None)


_FLAG = "password flag"
_COMMANDS: tuple[tuple[str, str], ...] = (
    (r"mysql|mysqldump|mysqladmin|mysqlsh|mariadb|mariadb-dump|7za?|rar|unrar", r"-h?p"),
    (r"sshpass|mongo|mongosh|mongodump|mongorestore", r"-p[ \t]*"),
    (r"(?:docker|podman|helm|az|oc|skopeo|buildah|npm|heroku)[^\n|;&]*? login|twine[^\n|;&]*? upload", r"-p[ =]?"),
    (r"redis-cli", r"-a[ \t]+"),
    (r"ldap(?:search|modify|add|passwd|whoami|delete)", r"-w[ \t]*"),
    (r"smbclient|rpcclient|net", r"-U[ \t]*[^\s%]+%"),
    (r"sqlcmd|bcp|isql|osql|tsql|zip|unzip|ssh-keygen", r"-[PN][ \t]*"),
    (r"curl|wget|http|https|xh", r"(?:-u|--user|--proxy-user|-U)[ =]?[\"']?[^\s:\"']+:"),
)
"""Programs, and the flag of theirs that a password follows."""

LEADS: tuple[Lead, ...] = (
    Lead(rf"(?i)({_NAME})[\"'`]{{0,3}}\]?[ \t]{{0,4}}(?::=|=>|={{1,3}}|:|[ \t][|│])[ \t]{{0,8}}", _assigned),
    Lead(rf"(?i)({_NAME})[\"']\s{{0,8}},\s{{0,8}}[\"']value[\"']\s{{0,4}}:\s{{0,4}}", _assigned),
    Lead(rf"(?i)\b(?:key|name)=[\"']({_NAME})[\"'][ \t]+value=", _assigned),
    Lead(
        rf"(?i)(?:set|put|setitem|append|fill|type|header|setheader|setproperty|add|setdefault)\([ \t]*"
        rf"[\"']({_NAME})[\"'][ \t]*,[ \t]*",
        _quoted,
    ),
    Lead(rf"(?i)(?:^|[\s\"'=(\[,])(--?{_NAME})(?:[ \t]+|[\"'],\s{{0,4}}[\"'])", _flagged),
    Lead(rf"(?i)\b(?:set|setx|setenv|env|export)[ \t]+(?:-[a-z-]+[ \t]+)*({_NAME})[ \t]+", _set),
    Lead(
        r"(?i)\b(pass(?:word|wort|phrase|code)|passwd|token|secret|api[ _-]?key|pin)[ \t]+"
        r"(?:is|was|are|ist|lautet|es|est)[ \t]{0,4}:?[ \t]{0,4}",
        _told,
    ),
    Lead(rf"(?i)<(?:[a-z0-9_-]+:)?({_NAME})(?:[ \t][^<>\n]{{0,80}})?>", _element),
    Lead(rf"(?i)<key>({_NAME})</key>\s{{0,40}}<(?:string|data)>", _element),
    Lead(r"(?i)\b(?:login|user(?:name)?)[ \t]+[^\s]+[ \t]+password[ \t]+", _argument, "password"),
    Lead(
        r"(?i)\b(?:identified\s{1,8}by|(?:with|set)\s{1,8}(?:encrypted\s{1,8})?password|password)\s{1,8}"
        r"(?:by\s|=\s?|to\s)?",
        _quoted,
        "password",
    ),
    *(Lead(rf"\b(?:{names})[^\n|;&]*?[ \t]{flag}", _argument, _FLAG) for names, flag in _COMMANDS),
    Lead(r"\bhtpasswd[ \t]+-[A-Za-z]*b[A-Za-z]*[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+", _argument, _FLAG),
    Lead(r"-pass(?:in|out)?[ \t]+pass:", _argument, _FLAG),
    Lead(
        r"\becho[ \t]+(?:-n[ \t]+)?",
        _piped,
        _FLAG,
        r"[^\n|]*\|[^\n]*(?:sudo[ \t]+-[A-Za-z]*S|--password-stdin|\bchpasswd|--passphrase-fd|\bcryptsetup)",
    ),
)
"""Every way of saying that a secret follows."""
