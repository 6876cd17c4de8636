"""Installs the plugin into OpenClaw's configuration and takes it out again: first a plan, then `apply`.

Needs neither npm nor a running gateway, which sees the change by itself. Not for starting anything.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet.errors import BadInput, LimpetError, NotFound
from limpet.runtimes.openclaw.configuration import Configuration, read
from limpet.runtimes.openclaw.plan import Change, Plan, apply, content

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Plan", "apply", "fault", "is_installed", "is_set_up", "plan_removal", "plan_setup", "plugin_folder"]

ID = "limpet"
BACKUP = ".limpet-backup"
PATHS = ("plugins", "load", "paths")
ALLOW = ("plugins", "allow")
ENTRY = ("plugins", "entries", ID)
OFFERS = frozenset({"*", "group:plugins", ID, "memory_ask"})
"""What in OpenClaw's `tools.allow` lets agents have tools of the plugin."""

SIGNS = ("openclaw.json", "agents", "state", "workspace", "credentials")
"""What an OpenClaw state folder has at least one of."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to stand in the configuration."""

    plugin: str
    command: tuple[str, ...] = ()
    home: str = ""


def plugin_folder() -> Path:
    """Return the plugin's folder: in the installed package, or in a checkout. Raises NotFound."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "integrations" / "openclaw", package.parents[1] / "integrations" / "openclaw"):
        if (folder / "openclaw.plugin.json").is_file():
            return folder
    raise NotFound("The OpenClaw plugin is not in this installation.", "Install Limpet again.")


def is_installed(state: Path) -> bool:
    """Whether OpenClaw's configuration loads the plugin and has it switched on."""
    try:
        now = Configuration(state / "openclaw.json")
        entry, plugins = now.effective(ENTRY), now.effective(("plugins",))
        paths = now.effective(PATHS)
    except BadInput:
        return False
    if not isinstance(entry, dict) or not isinstance(paths, list) or _refusal(plugins):
        return False
    return entry.get("enabled") is True and any(map(_is_ours, paths))


def is_set_up(state: Path) -> bool:
    """Whether the plugin was set up here and not removed since, be it loaded or not."""
    return is_installed(state) or bool(fault(state))


def fault(state: Path) -> str:
    """Return why OpenClaw does not load a plugin that was once set up; "" where it does, or none was.

    That one was set up, its entry says, or the copy that `plan_setup` keeps: `plan_removal` takes both away.
    """
    path = state / "openclaw.json"
    try:
        now = Configuration(path)
        entry, plugins, paths = now.effective(ENTRY), now.effective(("plugins",)), now.effective(PATHS)
    except BadInput as error:
        return error.message.removesuffix(".") if _backup(path).exists() else ""
    if not isinstance(entry, dict):
        return f"its entry is gone from {path}" if _backup(path).exists() else ""
    if entry.get("enabled") is not True:
        return "plugins.entries.limpet.enabled is not true"
    if not isinstance(paths, list) or not any(map(_is_ours, paths)):
        return "plugins.load.paths does not name its folder"
    return _refusal(plugins) or _unlisted(plugins)


def plan_setup(state: Path, plugin_dir: Path, command: Sequence[str] | None, home: Path | None = None) -> Plan:
    """Return what makes OpenClaw load the plugin.

    `command` is the sidecar for the plugin to keep running, None where it runs elsewhere; `home` is Limpet's own
    folder where it is not `<state>/limpet`. Raises NotFound without a state folder, BadInput where it is not
    OpenClaw's, the configuration cannot be read, or OpenClaw would not load the plugin.
    """
    _check_state(state)
    _check_owner(state, plugin_dir)
    now = Configuration(state / "openclaw.json")
    if refusal := _refusal(now.effective(("plugins",))):
        raise BadInput(
            f"{now.path}: {refusal}.",
            "Change that, or OpenClaw will not load the plugin. Nothing was changed.",
        )
    wanted = Wanted(str(plugin_dir), tuple(command or ()), str(home or ""))
    after = _configured(now, wanted)
    edited = [path for path, text in after.texts.items() if text != now.texts[path]]
    if not edited:
        return Plan((f"{now.path} is set up for Limpet already: nothing is to be done.",))
    backups = _backups(now, edited)
    changes = [Change(path, _bytes(now.texts[path]), _bytes(after.texts[path])) for path in edited]
    offered = _offered(now.effective(("tools", "allow")))
    return Plan((*_setup_sentences(edited, wanted), offered, *_kept(backups)), (*backups, *changes))


def plan_removal(state: Path) -> Plan:
    """Return what takes the plugin out: the former bytes where nobody has edited since, else only our keys.

    Raises NotFound without a state folder, BadInput where its configuration cannot be read.
    """
    _check_state(state)
    now = Configuration(state / "openclaw.json")
    bare = _bare(now)
    former = _former(now)
    texts = bare.texts if former is None else former
    edited = [path for path, text in texts.items() if text != now.texts[path]]
    changes = [Change(path, _bytes(now.texts[path]), _bytes(texts[path])) for path in edited]
    stale = [Change(file, file.read_bytes(), None) for file in map(_backup, now.texts) if file.exists()]
    how = (
        "Take Limpet's keys out of {}; all else in it stays." if former is None else "Restore {} to what it was before."
    )
    sentences = [how.format(path) for path in edited] + [f"Delete {change.path}." for change in stale]
    return Plan(tuple(sentences) or (f"Limpet is not in {now.path}: nothing is to be done.",), (*changes, *stale))


def _configured(now: Configuration, wanted: Wanted) -> Configuration:
    """Return the configuration with the plugin in it: what is there already stays where it is."""
    after = Configuration(now.path, now.texts)
    after.add(PATHS, wanted.plugin)
    for stale in [path for path in after.items(PATHS) if _is_ours(path) and path != wanted.plugin]:
        after.take(PATHS, stale)
    after.put((*ENTRY, "enabled"), True)
    after.put((*ENTRY, "hooks", "allowConversationAccess"), True)
    for name, value in (("command", list(wanted.command)), ("home", wanted.home)):
        if value:
            after.put((*ENTRY, "config", name), value)
        else:
            after.take((*ENTRY, "config", name))
    if (allowed := after.effective(ALLOW)) and ID not in allowed:
        after.add(ALLOW, ID)
    return after


def _bare(now: Configuration) -> Configuration:
    """Return the configuration without anything of ours."""
    after = Configuration(now.path, now.texts)
    for path in filter(_is_ours, after.items(PATHS)):
        after.take(PATHS, path)
    after.take(ENTRY)
    after.take(ALLOW, ID)
    now.texts.update({path: read(path) for path in after.texts if path not in now.texts})
    return after


def _former(now: Configuration) -> dict[Path, str | None] | None:
    """Return the backups, if what stands there now is exactly what setting up made of them."""
    entry = now.effective(ENTRY)
    plugin = next(filter(_is_ours, now.items(PATHS)), None)
    if not isinstance(entry, dict) or plugin is None:
        return None
    config = entry.get("config")
    config = config if isinstance(config, dict) else {}
    wanted = Wanted(plugin, tuple(config.get("command", ())), config.get("home", ""))
    saved = {path: text for path in now.texts if (text := read(_backup(path))) is not None}
    there_was_no_file: dict[Path, str | None] = {now.path: None}
    texts = {**now.texts, **(saved or there_was_no_file)}
    try:
        return texts if _configured(Configuration(now.path, texts), wanted).texts == now.texts else None
    except LimpetError:
        return None  # what was saved is not what it was


def _backups(now: Configuration, edited: Sequence[Path]) -> list[Change]:
    """Return the backups to write: each file as it is without us; one that is still exact stays."""
    bare = _bare(now)
    if bare.texts != now.texts and _former(now) is not None:
        return []
    texts = {path: bare.texts[path] for path in edited if now.texts[path] is not None}
    return [Change(_backup(path), content(_backup(path)), _bytes(text)) for path, text in texts.items()]


def _setup_sentences(edited: Sequence[Path], wanted: Wanted) -> list[str]:
    files = " and ".join(map(str, edited))
    said = [
        f"Change {files}:",
        f"  load the plugin from {wanted.plugin} (plugins.load.paths),",
        "  switch it on, let it see how runs end and brief the agent (plugins.entries.limpet).",
    ]
    if wanted.command:
        said.append(f"  It keeps the sidecar running: {' '.join(wanted.command)}")
    return said


def _offered(allowed: Any) -> str:
    """Return what agents get, or what the user would have to add to OpenClaw's list of tools, which is left alone."""
    if isinstance(allowed, list) and allowed and not OFFERS.intersection(map(str, allowed)):
        return "  Its tools for agents (memory_ask ...) are not in tools.allow: add limpet there, if agents may ask."
    return "  It offers the agents tools that ask the memory: memory_ask, memory_recent, memory_session, memory_show."


def _kept(backups: Sequence[Change]) -> list[str]:
    return [f"Keep what it was in {change.path}." for change in backups]


def _refusal(plugins: Any) -> str:
    """Return why OpenClaw would not load the plugin whatever else is written, "" if it would."""
    if not isinstance(plugins, dict):
        return ""
    if plugins.get("enabled") is False:
        return "plugins.enabled is false"
    denied = plugins.get("deny")
    return "plugins.deny names limpet" if isinstance(denied, list) and ID in denied else ""


def _unlisted(plugins: Any) -> str:
    allowed = plugins.get("allow") if isinstance(plugins, dict) else None
    return "plugins.allow does not name limpet" if isinstance(allowed, list) and allowed and ID not in allowed else ""


def _is_ours(path: Any) -> bool:
    """Whether this is a folder with our plugin, or was one that is gone now (an older environment's)."""
    if not isinstance(path, str):
        return False
    try:
        manifest = json.loads((Path(path) / "openclaw.plugin.json").read_bytes())
    except FileNotFoundError:
        return not Path(path).exists() and Path(path).parts[-2:] == ("integrations", "openclaw")
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("id") == ID


def _check_state(state: Path) -> None:
    if not state.exists():
        hint = "Start OpenClaw once, or say where it lies with OPENCLAW_STATE_DIR."
        raise NotFound(f"There is no OpenClaw state folder at {state}.", hint)
    if not any((state / sign).exists() for sign in SIGNS):
        raise BadInput(f"{state} is not a state folder of OpenClaw.", "Say where it lies with OPENCLAW_STATE_DIR.")


def _check_owner(state: Path, plugin_dir: Path) -> None:
    """OpenClaw loads no plugin that somebody else could change."""
    plugin, owner = plugin_dir.stat(), state.stat().st_uid
    if plugin.st_uid not in (0, owner) or plugin.st_mode & 0o002:
        message = f"OpenClaw will not load a plugin from {plugin_dir}: others can write there."
        raise BadInput(message, "Install Limpet as the user that runs OpenClaw, or as root.")


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")
