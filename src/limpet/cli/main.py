"""The commands, their arguments and their help; errors become one sentence, one hint and an exit status."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from limpet import __version__
from limpet.cli import output
from limpet.errors import LimpetError, NotUnderstood, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Command(NamedTuple):
    """A command: where its body stands, one line of help, its examples, and what adds its own arguments."""

    body: str
    help: str
    examples: str
    arguments: Callable[[argparse.ArgumentParser], object] | None = None
    knows_time: bool = False


class Parser(argparse.ArgumentParser):
    """A parser whose complaints look like every other error of ours."""

    def error(self, message: str) -> NoReturn:
        """Turn a wrong argument into a sentence with a hint."""
        hint = f"{self.prog} --help"
        example = (self.epilog or "").partition("\n")[2].strip()
        if message.startswith("the following arguments are required") and example:
            raise NotUnderstood(f"{self.prog} needs {message.partition(': ')[2]}.", f"{example}  ({hint})")
        if message.startswith("unrecognized arguments: -"):
            hint += "  (what begins with - and is no option: limpet ask -- -v, or in quotes: limpet ask '\"rm -rf\"')"
        raise NotUnderstood(f"{message[:1].upper()}{message[1:]}.", hint)


def _ask(p: argparse.ArgumentParser) -> None:
    p.add_argument("question", nargs="+", help="plain English, or filters such as type:tool_call status:failed")
    p.add_argument("--limit", type=int, default=0, metavar="N", help="how many are shown (default 50)")
    p.add_argument("--offset", type=int, default=0, metavar="N", help="leave out the first N")
    p.add_argument("--csv", action="store_true", help="as CSV")


def _recent(p: argparse.ArgumentParser) -> None:
    p.add_argument("--hours", type=float, default=24, metavar="H", help="how far back (default 24)")
    p.add_argument("--type", default="", metavar="T", help="only events of this type")
    p.add_argument("--limit", type=int, default=50, metavar="N", help="how many are shown (default 50)")
    p.add_argument("--csv", action="store_true", help="as CSV")


def _session(p: argparse.ArgumentParser) -> None:
    p.add_argument("id", help="a session's id or key")
    p.add_argument("--children", action="store_true", help="with what its subagents did")


def _show(p: argparse.ArgumentParser) -> None:
    p.add_argument("event", help="an event's number")


def _brief(p: argparse.ArgumentParser) -> None:
    p.add_argument("--agent", default="", metavar="A", help="whose brief (default: the default agent's)")
    p.add_argument("--session", default="", metavar="KEY", help="of the session with this key (default: the owner's)")
    p.add_argument("--tokens", type=int, default=0, metavar="N", help="at most so many tokens (default 600)")


def _note(p: argparse.ArgumentParser) -> None:
    which = p.add_mutually_exclusive_group()
    which.add_argument("--date", metavar="D", help="write the note of this day: ISO date, yesterday, today")
    which.add_argument("--since", metavar="D", help="write the notes of all days from this one on")
    span = p.add_mutually_exclusive_group()
    span.add_argument("--week", action="store_true", help="show the week that holds the day (default: yesterday)")
    span.add_argument("--month", action="store_true", help="show the month that holds the day (default: yesterday)")
    p.add_argument("--agent", default="", metavar="A", help="only this agent's")
    p.add_argument("--dry-run", action="store_true", help="show what the note would say, and write nothing")


def _add(p: argparse.ArgumentParser) -> None:
    p.add_argument("type", help="any word: note, decision, error ...")
    p.add_argument("summary", help="one sentence")
    p.add_argument("--details", metavar="JSON", help="any JSON value")
    p.add_argument("--tag", action="append", metavar="T", help="a tag; may be given again")
    p.add_argument("--session", metavar="S", help="the session it belongs to")
    p.add_argument("--agent", metavar="A", help="the agent it belongs to")


def _import(p: argparse.ArgumentParser) -> None:
    p.add_argument("path", nargs="+", help="hook lines, transcripts, the script's database, or a folder of these")


def _export(p: argparse.ArgumentParser) -> None:
    p.add_argument("--format", choices=["jsonl", "parquet"], default="jsonl", help="JSON lines (default)")
    p.add_argument("--type", default="", metavar="T", help="only events of this type")
    p.add_argument(
        "--records",
        action="store_true",
        help="the ledger's records instead of the events: `import` reads them again",
    )
    p.add_argument(
        "--bundle",
        metavar="FOLDER",
        help="everything, with the chain and its seal, into a new folder that docs/verify_bundle.py verifies",
    )


def _run(p: argparse.ArgumentParser) -> None:
    p.add_argument("--until-eof", action="store_true", help="end with standard input, for a supervisor")


def _verify(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--against",
        action="append",
        metavar="SEAL",
        help="a copy of a seal to hold it against: NUMBER:HASH, a backup, a bundle, a daily note; may be repeated",
    )


def _forget(p: argparse.ArgumentParser) -> None:
    p.add_argument("question", nargs="+", help="what to forget: plain English or filters, as for `ask`")
    p.add_argument("--dry-run", action="store_true", help="show what would be erased, and change nothing")
    p.add_argument("--yes", action="store_true", help="do not ask")


def _prune(p: argparse.ArgumentParser) -> None:
    p.add_argument("--older-than", type=int, required=True, metavar="DAYS", help="how many days are kept")
    p.add_argument("--less", action="store_true", help="yes, less than half a year")
    p.add_argument("--dry-run", action="store_true", help="show what would be dropped, and change nothing")
    p.add_argument("--yes", action="store_true", help="do not ask")


def _redact(p: argparse.ArgumentParser) -> None:
    p.add_argument("--again", action="store_true", help="take out what is found; without it, it is only counted")
    p.add_argument("--dry-run", action="store_true", help="count only")


def _backup(p: argparse.ArgumentParser) -> None:
    p.add_argument("path", help="the file to write, or a folder: then it is named after the time")
    p.add_argument("--replace", action="store_true", help="replace the file that lies there")


def _restore(p: argparse.ArgumentParser) -> None:
    p.add_argument("path", help="the copy to put back")
    p.add_argument("--replace", action="store_true", help="move the memory that is there aside")


def _open(p: argparse.ArgumentParser) -> None:
    p.add_argument("--no-browser", action="store_true", help="only print the link")


def _mcp(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--agent", default="", metavar="A", help="show only what belongs to this agent (default: everything)"
    )
    p.add_argument("--tz", metavar="ZONE", help="the time zone, for example Europe/Berlin")


def _watch(p: argparse.ArgumentParser) -> None:
    p.add_argument("--minutes", type=float, default=0, metavar="N", help="end after so long (default: never)")


def _setup(p: argparse.ArgumentParser) -> None:
    p.add_argument("runtime", choices=["openclaw"], help="the runtime: the only one so far")
    p.add_argument("--yes", action="store_true", help="do not ask (without a terminal nobody is asked)")
    p.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")


def _setup_alone(p: argparse.ArgumentParser) -> None:
    _setup(p)
    p.add_argument(
        "--note-with",
        choices=["sidecar", "openclaw-cron"],
        default="sidecar",
        help="who starts the daily notes: the sidecar (default), or a job of OpenClaw's cron as well",
    )


def _demo(p: argparse.ArgumentParser) -> None:
    p.add_argument("--keep", metavar="FOLDER", help="leave the demo's memory in this folder")


def _push(p: argparse.ArgumentParser) -> None:
    p.add_argument("url", nargs="?", default="", metavar="URL", help="the fleet (default: `push` in config.toml)")
    p.add_argument("--as", dest="name", metavar="NAME", help="the name of this machine in the fleet")
    p.add_argument("--prepare", action="store_true", help="make the fleet's schema, as its owner; nothing is pushed")


COMMANDS: dict[str, Command] = {
    "run": Command("run:run", "the sidecar in the foreground", "limpet run", _run),
    "open": Command("open:open_", "the page in a browser, on this machine only", "limpet open --no-browser", _open),
    "watch": Command(
        "run:watch",
        "where no sidecar runs: look at what is broken, and have somebody told",
        "limpet watch --minutes 60",
        _watch,
    ),
    "setup": Command(
        "record:setup",
        "install the plugin into OpenClaw and configure it",
        "limpet setup openclaw --dry-run",
        _setup_alone,
    ),
    "remove": Command("record:setup", "undo `setup`, exactly", "limpet remove openclaw", _setup),
    "demo": Command(
        "demo:demo",
        "a recorded day to try everything on, in a throw-away folder",
        "limpet demo",
        _demo,
        True,
    ),
    "ask": Command("ask:ask", "an exact answer to a question", "limpet ask failed tool calls yesterday", _ask, True),
    "recent": Command("ask:recent", "the newest events", "limpet recent --hours 48 --type tool_call", _recent, True),
    "session": Command(
        "ask:session", "a session's timeline", "limpet session agent:main:main --children", _session, True
    ),
    "show": Command(
        "ask:show", "one event with its full body and every record behind it", "limpet show 4096", _show, True
    ),
    "brief": Command(
        "brief:brief",
        "what an agent is told when it wakes up, as it gets it",
        "limpet brief --agent main",
        _brief,
        True,
    ),
    "note": Command(
        "note:note",
        "write the daily notes that are due, or show a day, a week or a month",
        "limpet note --date yesterday --dry-run",
        _note,
        True,
    ),
    "add": Command(
        "record:add",
        "add an event of your own",
        "limpet add decision 'we stay on port 9443' --tag infra",
        _add,
        True,
    ),
    "import": Command(
        "record:import_",
        "bring in files; nothing counts twice",
        "limpet import ~/old/agent_memory.db hooks.jsonl",
        _import,
    ),
    "export": Command(
        "record:export",
        "write events, or the ledger's records, as JSON lines",
        "limpet export --type tool_call > calls.jsonl",
        _export,
        True,
    ),
    "mcp": Command(
        "mcp:mcp", "the same questions as MCP tools on standard input and output", "limpet mcp --agent main", _mcp
    ),
    "status": Command(
        "keep:status",
        "is it recording, since when, how far behind, what can it not see",
        "limpet status && echo fine",
    ),
    "doctor": Command(
        "doctor:doctor", "walk the whole chain from hook to answer and name the broken link", "limpet doctor"
    ),
    "verify": Command(
        "proof:verify",
        "check the ledger's chain, and hold events, index, counts and seals against it",
        "limpet verify --against ~/backups/agent_memory.db",
        _verify,
    ),
    "forget": Command(
        "forget:forget",
        "erase for good what a question asks for: bytes, events, index, notes",
        "limpet forget session:s-1 --dry-run",
        _forget,
        True,
    ),
    "prune": Command(
        "forget:prune",
        "drop what is old; what daily notes cite is kept, and a seal stands in place of the rest",
        "limpet prune --older-than 400 --dry-run",
        _prune,
        True,
    ),
    "redact": Command(
        "forget:redact",
        "look for secrets in what was kept before, by the rules of today, and take them out",
        "limpet redact --again",
        _redact,
        True,
    ),
    "backup": Command(
        "copy:backup", "copy the memory while it is recording, and verify the copy", "limpet backup ~/backups/", _backup
    ),
    "restore": Command(
        "copy:restore",
        "put a copy back, after verifying it; what is there is moved aside",
        "limpet restore ~/backups/agent_memory.db --replace",
        _restore,
    ),
    "rebuild": Command("keep:rebuild", "make the events and the text index again from the ledger", "limpet rebuild"),
    "push": Command(
        "fleet:push",
        "bring to a fleet's PostgreSQL all that it lacks of this memory",
        "limpet push postgresql://web1@db.example.org/limpet",
        _push,
    ),
    "drain": Command("keep:drain", "take in what is pending", "limpet drain"),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; the command reference is made from it."""
    top = Parser(prog="limpet", description="A persistent memory sidecar for AI agents.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"limpet {__version__}")
    below = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        p = below.add_parser(
            name, help=command.help, description=f"{command.help[:1].upper()}{command.help[1:]}.", allow_abbrev=False,
            epilog=f"example:\n  {command.examples}", formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        p.add_argument("--db", metavar="PATH|URL", help="another database, or a fleet's postgresql:// address")
        p.add_argument("--json", action="store_true", help="as JSON")
        if command.knows_time:
            p.add_argument("--tz", metavar="ZONE", help="the time zone, for example Europe/Berlin")
            p.add_argument(
                "--now", metavar="TIME", help="take this ISO time for now, so that an answer can be repeated"
            )
        if command.arguments:
            command.arguments(p)
    return top


DISK = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG, errno.EMFILE}
)
"""What a disk, or the system, may refuse at any time: no fault of ours."""


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    machine = "--json" in arguments
    try:
        args = parser().parse_args(arguments)
        module, _, function = COMMANDS[args.command].body.partition(":")
        return int(getattr(import_module(f"limpet.cli.{module}"), function)(args))
    except LimpetError as problem:
        output.error(problem, machine=machine)
        return problem.exit_status
    except BrokenPipeError:
        # The reader of a pipe went away (`limpet recent | head`): that is no fault of anybody's.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as fault:  # noqa: BLE001 - the last door: what the disk refused, or a fault of ours
        if refused := _refused(fault):
            output.error(refused, machine=machine)
            return refused.exit_status
        output.fault(fault, machine=machine)
        return LimpetError.exit_status


def _refused(fault: Exception) -> LimpetError | None:
    """Return in words for people what the disk or SQLite would not do, None for what is a fault of ours."""
    if isinstance(fault, OSError) and fault.errno in DISK:
        place = fault.filename or "A file"
        return Unavailable(f"{place} cannot be used: {fault.strerror}.", "Check the disk and its permissions.", "disk")
    apsw = sys.modules.get("apsw")
    if apsw is None or not isinstance(fault, apsw.Error):
        return None
    from limpet.store import opening  # noqa: PLC0415 - loaded already, where there is such an error

    told = opening.explained(fault, Path("the database"))
    return None if told.code == "database" else told


def _open_what_is_closed() -> None:
    """Put the null device in place of a standard stream that whoever started us has closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open to the end


def run() -> NoReturn:
    """Run the command that the process was started with; what it says is UTF-8 whatever the locale says."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
