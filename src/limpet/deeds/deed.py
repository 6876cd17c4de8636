"""What a tool call did, in a verb and an object: which calls are of one kind, and how that kind is named. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from limpet.deeds.commands import PREPARING, program_of
from limpet.deeds.quoting import code, quoted

FAMILIES = ("ran", "wrote", "used", "opened", "searched", "read")
"""What a call may have been, the more telling first."""

SHELLS = frozenset(
    {"exec", "bash", "shell", "run_command", "terminal", "execute_command", "run_terminal_cmd", "local_shell"}
)
MAKERS = frozenset({"write", "write_file", "create_file"})
WRITERS = MAKERS | {"edit", "apply_patch", "edit_file", "multiedit", "str_replace", "notebookedit", "append"}
READERS = frozenset({"read", "view", "read_file", "cat", "open_file"})
OPENERS = ("web_fetch", "browser", "fetch", "http", "firecrawl", "playwright", "webfetch")
SEARCHERS = frozenset(
    {"web_search", "memory_search", "grep", "glob", "find", "search", "websearch", "tool_search", "file_search"}
)
PATCHED = re.compile(r"\*\*\* (?:Add|Update|Delete) File: ([^\\\n]+?)(?=\\n|\n|\s\*\*\*|\s@@|$)")
PATH_CHARS = 60
LONGEST = 60
"""A longer command is told by its program."""


class Call(Protocol):
    """What has to be known of a tool call: an event, or as much of one."""

    @property
    def tool(self) -> str:
        """The tool's name."""

    @property
    def summary(self) -> str:
        """The event's summary."""

    @property
    def session(self) -> str:
        """The session's id."""

    @property
    def session_key(self) -> str:
        """The session's key."""


class Deed(NamedTuple):
    """A kind of call: its family, what tells kinds apart, its name, and `whole`, this call in full; as Markdown."""

    family: str
    key: str
    shown: str
    whole: str


def deed_of(event: Call) -> Deed:
    """Return what a tool call did, as far as its summary says so: the tool and its telling argument."""
    tool = event.tool or "a tool"
    said = event.summary
    told = said[len(tool) :].strip() if said.startswith(tool) else ""
    name = tool.lower()
    if not told or (told.startswith(("{", "[")) and name != "apply_patch") or told == "executed":
        return Deed("used", tool, code(tool), code(tool))
    if name in SHELLS:
        return _command(tool, told)
    if name in WRITERS:
        path = file_of(told)
        return Deed("wrote", f"file {path}", code(short(path)), code(short(path)))
    return _looked(tool, told) or Deed("used", tool, code(tool), f"{code(tool)} ({quoted(told, 60)})")


def aim_of(event: Call, deed: Deed) -> tuple[str, str]:
    """Return what a success must be of to make a call good: of the same kind, and in the same session for a bare tool.

    Two bookings are two things; a command, a file or an address is the same wherever it is named.
    """
    bare = deed.family == "used"
    return deed.family, f"{deed.key}\0{event.session or event.session_key}" if bare else deed.key


def _command(tool: str, told: str) -> Deed:
    program = program_of(told)
    if not program or program in PREPARING:
        program = told
    whole = told if len(told) <= LONGEST or program == told else f"{program} …"
    return Deed("ran", f"{tool} {program}", code(program), code(whole))


def _looked(tool: str, told: str) -> Deed | None:
    """Return what a call that only looks looked at, None for one that does more."""
    name, key = tool.lower(), f"{tool} {told}"
    if name in READERS:
        return Deed("read", key, code(short(told)), code(short(told)))
    if name in SEARCHERS:
        return Deed("searched", key, f"for {quoted(told, 60)}", f"for {quoted(told, 60)}")
    return Deed("opened", key, code(told), code(told)) if name.startswith(OPENERS) else None


def file_of(told: str) -> str:
    """Return the file that a writing call names: its path, or the first file of a patch."""
    found = PATCHED.search(told)
    return found[1].strip() if found else told


def short(path: str) -> str:
    """Return a path by its end, where it is long: the file's name and the folders that still fit."""
    if len(path) <= PATH_CHARS or "/" not in path:
        return path
    kept = path[-PATH_CHARS:]
    return f"…/{kept.partition('/')[2] or path.rpartition('/')[2]}"
