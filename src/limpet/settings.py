"""Every setting, once: its value and where it came from. The only reader of the environment and of `config.toml`."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import sys
import tomllib
import zoneinfo
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet import address
from limpet.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from: `flag`, `environment`, `file`, `openclaw`, `machine`, `default`; and its name there."""

    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; `origins` says of each where it came from (shown by `limpet doctor`).

    `state` is OpenClaw's state folder, `home` is Limpet's own, `db` the database; all absolute.
    `zone` is the user's time zone (IANA), `history` whether OpenClaw's own files are read. `note_model` is who may
    word the daily note: `off`, `openclaw` (or the path of that program), or the address of an OpenAI-compatible
    endpoint; `note_model_name` which model there, `note_model_key_env` the variable with the endpoint's key,
    `note_token_budget` the most tokens of one night. `note_nightly` is whether the sidecar writes notes, `note_at` from
    what local time on. `web_port` is the page's port, 0 for any. `alarm_after_s` is after how many seconds of trouble
    somebody is told (0: never), `on_alarm` the command that tells them, its last argument the sentence. `workspace` is
    what OpenClaw's environment names as its default workspace, `workspaces` says of an agent where its workspace is,
    whatever OpenClaw says.
    `keep_days` is after how many days events are dropped (0: never), `keep_mb` from how many megabytes on the oldest
    are; `keep_less` allows less than half a year. `backups` is the folder of nightly copies ("": none), of which
    `backups_kept` are kept. `secrets` are the user's own kinds of secrets, each with its pattern.
    `fleet` is the address of a fleet that is read in place of `db`, "" for none; `push` that of the fleet which the
    sidecar pushes to, `push_password_env` the variable with its password, `machine` the name of this machine there.
    """

    state: Path
    home: Path
    db: Path
    zone: str
    history: bool = True
    note_model: str = "off"
    note_model_name: str = ""
    note_model_key_env: str = ""
    note_token_budget: int = 20_000
    note_nightly: bool = True
    note_at: str = "03:00"
    web_port: int = 0
    alarm_after_s: int = 300
    on_alarm: str = ""
    workspace: str = ""
    workspaces: Mapping[str, str] = field(default_factory=dict)
    keep_days: int = 0
    keep_mb: int = 0
    keep_less: bool = False
    backups: str = ""
    backups_kept: int = 3
    secrets: Mapping[str, str] = field(default_factory=dict)
    fleet: str = ""
    push: str = ""
    push_password_env: str = ""
    machine: str = ""
    origins: Mapping[str, Origin] = field(default_factory=dict)

    @property
    def spool(self) -> Path:
        """The on-disk queue."""
        return self.home / "spool"

    @property
    def quarantine(self) -> Path:
        """Where lines are kept that could not be read."""
        return self.home / "quarantine"

    @property
    def lock(self) -> Path:
        """The kernel lock that one recorder at a time holds."""
        return self.home / "limpet.lock"

    @property
    def socket(self) -> Path:
        """The sidecar's Unix socket."""
        return self.home / "limpet.sock"

    def check_local(self) -> None:
        """Raise BadInput where a fleet is named in the place of this machine's database."""
        if self.fleet:
            raise BadInput("That is not done on a fleet.", "Do it on the machine itself; its sidecar pushes.", "fleet")

    @property
    def owns_spool(self) -> bool:
        """Whether this database is the one that drains the spool: never one named by a foreign `--db`."""
        if self.fleet:
            return False
        return self.origins["db"].kind != "flag" or self.db == self.state / "memory" / "agent_memory.db"


DEFAULTS: Mapping[str, Any] = {
    "history": True,
    "note_model": "off",
    "note_model_name": "",
    "note_model_key_env": "",
    "note_token_budget": 20_000,
    "note_nightly": True,
    "note_at": "03:00",
    "web_port": 0,
    "alarm_after_s": 300,
    "on_alarm": "",
    "workspaces": {},
    "keep_days": 0,
    "keep_mb": 0,
    "keep_less": False,
    "backups": "",
    "backups_kept": 3,
    "secrets": {},
    "push": "",
    "push_password_env": "",
    "machine": "",
}


def load(
    db: str | None = None,
    zone: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Settle every value: flag > environment > file > OpenClaw's configuration > machine > default.

    Raises BadInput when `config.toml` cannot be read, naming the file and the line.
    """
    env = os.environ if environment is None else environment
    origins: dict[str, Origin] = {}
    state = _state(env, origins)
    home = _home(env, state, origins)
    file = _file(home / "config.toml")
    fleet = _fleet(db, env, file, origins)
    chosen_db = _db(*((None, {}, {}) if fleet else (db, env, file)), state, origins)
    chosen_zone = _zone(zone, env, file, state, origins)
    rest = {name: _plain(name, file, origins) for name in DEFAULTS}
    _check_note_model(rest["note_model"])
    _check_note_at(rest["note_at"])
    _check_keeping(rest)
    _check_secrets(rest["secrets"])
    _check_push(rest["push"])
    _check_web_port(rest["web_port"])
    _check_alarm(rest["alarm_after_s"], rest["on_alarm"])
    rest["backups"] = str(_absolute(rest["backups"].strip(), env)) if rest["backups"].strip() else ""
    rest["workspace"] = _workspace(env, origins)
    rest["workspaces"] = _workspaces(rest["workspaces"], env)
    return Settings(state=state, home=home, db=chosen_db, zone=chosen_zone, fleet=fleet, origins=origins, **rest)


def secret(name: str, environment: Mapping[str, str] | None = None) -> str:
    """Return the secret that the environment variable of this name holds, "" where there is none; it is never kept."""
    env = os.environ if environment is None else environment
    return env.get(name, "").strip() if name else ""


def wants_colour(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the user's environment allows colour on a terminal (no-color.org)."""
    env = os.environ if environment is None else environment
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def has_screen(environment: Mapping[str, str] | None = None) -> bool:
    """Whether a browser could show a window here; on macOS there always is a screen."""
    env = os.environ if environment is None else environment
    return sys.platform == "darwin" or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))


def has_desktop(environment: Mapping[str, str] | None = None) -> bool:
    """Whether somebody's desktop can be reached from this environment."""
    env = os.environ if environment is None else environment
    return any(env.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"))


def for_child(settings: Settings) -> Mapping[str, str]:
    """Return the environment in which a child process settles the same values."""
    return {
        **os.environ,
        "LIMPET_HOME": str(settings.home),
        "LIMPET_DB": settings.fleet or str(settings.db),
        "OPENCLAW_STATE_DIR": str(settings.state),
    }


def user_home(env: Mapping[str, str]) -> Path:
    """Return the user's home, from the password file where HOME is missing or no absolute path (field case F71)."""
    home = env.get("HOME", "")
    if Path(home).is_absolute():
        return Path(home)
    return Path(pwd.getpwuid(os.getuid()).pw_dir)


def user_path(said: str | Path) -> Path:
    """Return the path that somebody named, `~` and `~name` being homes; a name that nobody has stays as it stands."""
    try:
        return Path(said).expanduser()
    except RuntimeError:
        return Path(said)


def _absolute(value: str, env: Mapping[str, str]) -> Path:
    if value == "~" or value.startswith("~/"):
        return user_home(env) / value[2:]
    return Path(os.path.abspath(value))  # noqa: PTH100 - a link stays the name that the user gave


def _state(env: Mapping[str, str], origins: dict[str, Origin]) -> Path:
    value = env.get("OPENCLAW_STATE_DIR", "").strip()
    if value:
        origins["state"] = Origin("environment", "OPENCLAW_STATE_DIR")
        return _absolute(value, env)
    origins["state"] = Origin("default")
    return user_home(env) / ".openclaw"


def _home(env: Mapping[str, str], state: Path, origins: dict[str, Origin]) -> Path:
    value = env.get("LIMPET_HOME", "").strip()
    if value:
        origins["home"] = Origin("environment", "LIMPET_HOME")
        return _absolute(value, env)
    origins["home"] = Origin("default")
    return state / "limpet"


def _file(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.", "Check its permissions and that it is UTF-8.") from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOML's own error, and numbers and nesting that Python gives up at
        raise BadInput(f"{path} is not valid TOML: {error}.", f"Mend that line, or move {path} away.") from error


def _db(
    flag: str | None, env: Mapping[str, str], file: Mapping[str, Any], state: Path, origins: dict[str, Origin]
) -> Path:
    for value, origin in (
        (flag or "", Origin("flag", "--db")),
        (env.get("LIMPET_DB", ""), Origin("environment", "LIMPET_DB")),
        (str(file.get("db", "")), Origin("file", "db")),
    ):
        if value.strip():
            origins["db"] = origin
            found = _absolute(value, env)
            if not found.name:
                raise BadInput(f"{found} can be no database.", "Name a file: --db /path/to/agent_memory.db")
            return found
    origins["db"] = Origin("default")
    return state / "memory" / "agent_memory.db"


def _fleet(flag: str | None, env: Mapping[str, str], file: Mapping[str, Any], origins: dict[str, Origin]) -> str:
    """Return the address of a fleet where one is named as the database."""
    named = ((flag or "", "flag", "--db"), (env.get("LIMPET_DB", ""), "environment", "LIMPET_DB"))
    value, kind, name = next((one for one in named if one[0].strip()), (str(file.get("db", "")), "file", "db"))
    if not address.is_address(value.strip()):
        return ""
    origins["fleet"] = Origin(kind, name)
    return value.strip()


def _zone(
    flag: str | None, env: Mapping[str, str], file: Mapping[str, Any], state: Path, origins: dict[str, Origin]
) -> str:
    for value, origin in (
        (flag, Origin("flag", "--tz")),
        (file.get("zone"), Origin("file", "zone")),
        (openclaw_config(state).get("userTimezone"), Origin("openclaw", "agents.defaults.userTimezone")),
        (_zone_name(env.get("TZ", "")), Origin("environment", "TZ")),
        (_machine_zone(), Origin("machine", "/etc/localtime")),
    ):
        if isinstance(value, str) and value.strip():
            origins["zone"] = origin
            return value.strip()
    origins["zone"] = Origin("default")
    return "UTC"


def _zone_name(said: str) -> str:
    """Return the zone that TZ names, "" for POSIX's other forms (`CET-1CEST`, a path): then the next one counts."""
    name = said.removeprefix(":")
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return ""
    return name


def _machine_zone() -> str:
    try:
        target = str(Path("/etc/localtime").readlink())
    except OSError:
        return ""
    return target.partition("zoneinfo/")[2]


def _workspace(env: Mapping[str, str], origins: dict[str, Origin]) -> str:
    value = env.get("OPENCLAW_WORKSPACE_DIR", "").strip()
    origins["workspace"] = Origin("environment", "OPENCLAW_WORKSPACE_DIR") if value else Origin("default")
    return str(_absolute(value, env)) if value else ""


def _workspaces(named: Mapping[str, Any], env: Mapping[str, str]) -> Mapping[str, str]:
    for agent, folder in named.items():
        if not isinstance(folder, str) or not folder.strip():
            raise BadInput(
                f"config.toml: workspaces.{agent} is {folder!r}, but it must be a folder.", 'main = "~/notes"'
            )
    return {agent: str(_absolute(folder.strip(), env)) for agent, folder in named.items()}


LEAST_DAYS = 183
"""Nobody keeps less than half a year by a slip of the finger."""


def _check_keeping(rest: Mapping[str, Any]) -> None:
    days, least = rest["keep_days"], 1 if rest["keep_less"] else LEAST_DAYS
    if days and days < least:
        raise BadInput(
            f"config.toml: keep_days is {days}, which is less than {least} days.",
            "Say 0 to keep everything; with keep_less = true any number of days is taken.",
        )
    if rest["keep_mb"] < 0:
        raise BadInput("config.toml: keep_mb is less than nothing.", "Say 0 to keep everything.")
    if rest["backups_kept"] < 1:
        raise BadInput("config.toml: backups_kept must be at least 1.", 'Say backups = "" to make none.')


def _check_secrets(patterns: Mapping[str, Any]) -> None:
    for kind, pattern in patterns.items():
        if not isinstance(pattern, str) or not pattern:
            raise BadInput(
                f"config.toml: secrets.{kind} is {pattern!r}, but it must be a pattern.",
                '"acme badge" = "ACME-[0-9]{6}"',
            )


def _check_note_at(value: str) -> None:
    if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value):
        raise BadInput(
            f"config.toml: note_at is {value!r}, but it must be a time of day.", 'For example: note_at = "03:00"'
        )


def _check_push(value: str) -> None:
    if value and not address.is_address(value):
        raise BadInput("config.toml: push is no fleet's address.", 'For example: push = "postgresql://web1@db/limpet"')
    if address.has_password(value):
        raise BadInput(
            "config.toml: the address in push holds a password, which does not belong there.",
            'push_password_env = "LIMPET_PUSH_PASSWORD" names a variable that holds it; or put it into ~/.pgpass.',
        )


def _check_web_port(value: int) -> None:
    if not 0 <= value < 1 << 16:
        raise BadInput(f"config.toml: web_port is {value}, but it must be a port.", "0 takes any that is free.")


def _check_alarm(after_s: int, command: str) -> None:
    if after_s < 0:
        raise BadInput("config.toml: alarm_after_s is negative.", "alarm_after_s = 300, or 0 for no alarm")
    try:
        named = shlex.split(command)
    except ValueError as error:
        hint = 'on_alarm = "ntfy publish my-topic"'
        raise BadInput(f"config.toml: on_alarm cannot be read: {error}.", hint) from error
    if command and not named:
        raise BadInput("config.toml: on_alarm names no command.", 'on_alarm = "ntfy publish my-topic"')


def openclaw_config(state: Path) -> Mapping[str, Any]:
    """Return OpenClaw's `agents.defaults` as far as it can be read; {} where it cannot."""
    from limpet import json5  # noqa: PLC0415 - only where there is a configuration to read

    try:
        config = json5.parse((state / "openclaw.json").read_text("utf-8")).value
        defaults = config["agents"]["defaults"]
    except (OSError, ValueError, KeyError, TypeError, BadInput):
        return {}
    return defaults if isinstance(defaults, dict) else {}


def _plain(name: str, file: Mapping[str, Any], origins: dict[str, Origin]) -> Any:
    default = DEFAULTS[name]
    if name not in file:
        origins[name] = Origin("default")
        return default
    value = file[name]
    if type(value) is not type(default):
        raise BadInput(
            f"config.toml: {name} is {value!r}, but it must be a {type(default).__name__}.",
            f"For example: {name} = {str(default).lower() if isinstance(default, (bool, int)) else repr(default)}",
        )
    origins[name] = Origin("file", name)
    return value


def _check_note_model(value: str) -> None:
    """Raise BadInput for a `note_model` that names nobody who could be asked."""
    if value in ("off", "openclaw") or Path(value).is_absolute():
        return
    from urllib.parse import urlsplit  # noqa: PLC0415 - only where there is an address

    try:
        parts = urlsplit(value)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.username
    except ValueError:
        known = False
    if not known:
        raise BadInput(
            "config.toml: note_model is no model that can be asked.",
            'It is "off", "openclaw", the path of that program, or an address such as "http://127.0.0.1:11434/v1".',
        )
