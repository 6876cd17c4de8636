"""Copies of seals that can be found: in daily notes, in backups, in what somebody wrote down. Not for judging them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from limpet import jsonfile
from limpet.checking.chain import Sealed
from limpet.errors import BadInput, LimpetError, NotFound
from limpet.note import seals
from limpet.runtimes.openclaw.workspaces import Workspaces
from limpet.settings import user_path
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.memory import Memory

WRITTEN_DOWN = re.compile(r"(\d{1,18}):([0-9a-fA-F]{64})")
BACKUP = "backup"


def known_seals(memory: Memory) -> Iterator[Sealed]:
    """Yield the seals of the agents' daily notes, and those of backups that lie where they were made."""
    if memory.settings.fleet:
        return  # its machines hold their own ledgers against these
    known = Workspaces(memory.settings)
    yield from seals.seals_in(known.of(agent).path for agent in sorted(memory.note_agents()))
    for seal in memory.local().custody.seals():
        if seal.what == BACKUP and Path(seal.place).is_file():
            yield Sealed(seal.no, seal.hash, f"the list of backups ({seal.place})")
            yield from _of_backup(Path(seal.place))


def seals_said(said: Sequence[str]) -> Iterator[Sealed]:
    """Yield the seals that a person names: `NUMBER:HASH`, a backup, a bundle, a file or a folder of notes.

    Raises NotFound for a file that is not there, BadInput for one that holds no seal.
    """
    for one in said:
        if match := WRITTEN_DOWN.fullmatch(one):
            yield Sealed(int(match[1]), bytes.fromhex(match[2]), "what was written down")
            continue
        path = user_path(one)
        if not path.exists():
            raise NotFound(f"There is no file {path}.", "A seal is NUMBER:HASH, a backup, a bundle or a daily note.")
        found = [*_of_path(path)]
        if not found:
            raise BadInput(f"{path} holds no seal.", "A seal is NUMBER:HASH, a backup, a bundle or a daily note.")
        yield from found


def _of_path(path: Path) -> Iterator[Sealed]:
    if path.is_dir():
        manifest = path / "manifest.json"
        if manifest.is_file():
            yield from _of_manifest(manifest)
        for note in sorted(path.glob("*.md")):
            yield from seals.seals_of(note)
    elif path.suffix == ".md":
        yield from seals.seals_of(path)
    else:
        yield from _of_backup(path)


def _of_manifest(path: Path) -> Iterator[Sealed]:
    try:
        head = jsonfile.read(path)["head"]
        yield Sealed(int(head["no"]), bytes.fromhex(head["hash"]), f"the bundle {path.parent}")
    except (OSError, ValueError, KeyError, TypeError):
        return


def _of_backup(path: Path) -> Iterator[Sealed]:
    """Yield the head of a copy, and nothing for a file that cannot be read as one."""
    try:
        store = SqliteStore(path, writing=False)
    except LimpetError:
        return
    try:
        no, digest = store.records.head()
        yield Sealed(no, digest, f"the backup {path}")
    finally:
        store.close()
