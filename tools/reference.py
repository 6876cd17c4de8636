"""What cog puts into docs/schema.md and docs/commands.md: made from the code, so that it is true."""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from limpet.cli import main
from limpet.store import opening
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

COMMON = ("help", "db", "json", "tz", "now")
"""Told once, at the head of the page."""

THINGS = (
    "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY rowid"
)
COMMENTED = re.compile(r"((?:^-- .*\n)+)CREATE (?:VIRTUAL )?(?:TABLE|VIEW) (\w+)", re.MULTILINE)


def schema() -> str:
    """Return every table and view of a fresh database, with the comments of the migrations that made it."""
    with tempfile.TemporaryDirectory() as folder:
        connection = opening.open_for_writing(Path(folder) / "fresh.db")
        text = "\n".join(_tables(connection))
        connection.close()
    return f"{text}\n## `agent_memory.search.db`\n\n```sql\n{queries('search')['schema'].strip()};\n```\n"


def commands() -> str:
    """Return every command with its arguments and an example."""
    choices = next(a.choices for a in main.parser()._actions if isinstance(a, argparse._SubParsersAction))  # noqa: SLF001
    assert choices is not None  # noqa: S101 - for the type checker
    return "\n".join(line for name, parser in choices.items() for line in _command(name, parser))


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    about = main.COMMANDS[name]
    yield from (f"## `limpet {name}`", "", f"{about.help[:1].upper()}{about.help[1:]}.", "")
    actions = [action for action in parser._actions if action.dest not in COMMON]  # noqa: SLF001
    if actions:
        yield from ("| argument | meaning |", "|---|---|")
        yield from (f"| `{_usage(action)}` | {action.help or ''} |" for action in actions)
        yield ""
    yield from ("```sh", about.examples, "```", "")


def _usage(action: argparse.Action) -> str:
    value = "\\|".join(action.choices) if action.choices else str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return f"{value} ..." if action.nargs == "+" else value
    return action.option_strings[0] if action.nargs == 0 else f"{action.option_strings[0]} {value}"


def _tables(connection: apsw.Connection) -> Iterator[str]:
    scripts = "\n".join(path.read_text("utf-8") for path in sorted(opening.MIGRATIONS.glob("*.sql")))
    comments = {m[2]: _prose(m[1]) for m in COMMENTED.finditer(scripts) if m.start()}  # the first is about the file
    for name, kind in connection.execute(THINGS).fetchall():
        yield from (f"### {kind} `{name}`", "", comments.get(name, ""), "")
        yield from _columns(connection, name, kind)
        yield ""


def _prose(comment: str) -> str:
    return " ".join(line.removeprefix("--").strip() for line in comment.strip().splitlines())


def _columns(connection: apsw.Connection, table: str, kind: str) -> Sequence[str]:
    rows = connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,)).fetchall()
    if kind == "view":
        return [", ".join(f"`{name}`" for name, *_ in rows)]
    notes = [
        f"| `{name}` | {declared} | {'key' if key else 'always there' if always else ''} |"
        for name, declared, always, key in rows
    ]
    return ["| column | type | |", "|---|---|---|", *notes]
