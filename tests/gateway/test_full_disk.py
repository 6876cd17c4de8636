"""A full disk and a read-only one: silent for the agent, loud in `status`, counted, and made good when there is room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = pytest.mark.gateway

PLUGIN = Path(__file__).parents[2] / "integrations" / "openclaw"
PRODUCER = """
import { createInterface } from "node:readline";
const { openSpool } = await import(process.argv[2]);
const spool = openSpool(process.argv[3]);
for await (const line of createInterface({ input: process.stdin })) {
  for (let n = 0; n < Number(line); n += 1) spool.append({ hook: "cron_changed", ctx: {}, event: { pad: "x".repeat(4000) } });
  console.log(JSON.stringify(spool.counts()));
}
"""


RIGHTS = "-dac_override,-dac_read_search"
WITHOUT_RIGHTS = ("setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}") if os.geteuid() == 0 else ()
"""Begins a command that permissions bind, also where root runs the tests."""


class Plugin:
    """The plugin's spool in a real Node process, told how many records to append."""

    def __init__(self, node: Path, home: Path, folder: Path, prefix: Sequence[str] = ()) -> None:
        """Start it on this home, through `prefix`; the program lies in `folder`."""
        program = folder / "producer.mjs"
        program.write_text(PRODUCER)
        self.process = subprocess.Popen(
            [*prefix, str(node), str(program), str(PLUGIN / "spool.js"), str(home)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def append(self, count: int) -> dict[str, int]:
        """Append that many records and return how many were written and dropped so far."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        told: dict[str, int] = json.loads(self.process.stdout.readline())
        return told

    def end(self) -> str:
        """End it and return what it complained of."""
        return self.process.communicate(timeout=30)[1]


@contextmanager
def small_disk(folder: Path, size: str = "1m") -> Iterator[Path]:
    """Mount a small disk of its own on a folder."""
    folder.mkdir(parents=True, mode=0o700)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)], check=False)
    if done.returncode != 0:
        pytest.skip("a small disk can only be mounted by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def limpet(state: Path, *args: str, prefix: Sequence[str] = ()) -> tuple[int, dict[str, Any]]:
    """Run a command with --json and return its exit status and what it said."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LIMPET_", "OPENCLAW_"))}
    environment = {**kept, "OPENCLAW_STATE_DIR": str(state), "HOME": str(state.parent), "TZ": "UTC"}
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "limpet", *args, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def node(openclaw: Path) -> Path:
    """Find the Node that OpenClaw runs on."""
    return openclaw / "node_modules" / "node" / "bin" / "node"


def test_a_full_disk_under_the_spool_is_silent_for_the_agent_and_loud_in_status(node: Path, tmp_path: Path) -> None:
    """Records that fit nowhere are counted; with room again the count becomes a gap, and recording goes on."""
    state = tmp_path / "state"
    with small_disk(state / "limpet") as home:
        filler = home / "filler"
        plugin = Plugin(node, home, tmp_path)
        assert plugin.append(1)["written"] == 1
        filler.write_bytes(bytes(900_000))
        told = plugin.append(300)
        assert told["dropped"] > 0
        status, said = limpet(state, "status")
        assert (status, "No space left" in said["sentence"]) == (5, True), said
        filler.unlink()
        after = plugin.append(1)
        assert told["dropped"] == after["dropped"]
        assert plugin.end() == ""
        _, recent = limpet(state, "recent", "--type", "gap")
        assert [f"{told['dropped']} events could not be recorded: ENOSPC"] == [e["summary"] for e in recent["events"]]
        assert limpet(state, "verify")[1]["faults"] == []


def test_a_read_only_disk_under_the_spool_is_loud_in_status(node: Path, tmp_path: Path) -> None:
    """The plugin goes on without a word, and `status` says that it cannot write."""
    state = tmp_path / "state"
    with small_disk(state / "limpet" / "spool") as spool:
        subprocess.run(["mount", "-o", "remount,ro", str(spool)], check=True)
        plugin = Plugin(node, spool.parent, tmp_path)
        assert plugin.append(2) == {"written": 0, "dropped": 2}
        status, said = limpet(state, "status")
        assert (status, "Read-only file system" in said["sentence"]) == (5, True), said
        subprocess.run(["mount", "-o", "remount,rw", str(spool)], check=True)
        assert plugin.append(1)["written"] >= 1
        assert plugin.end() == ""
        assert len(limpet(state, "recent", "--type", "gap")[1]["events"]) == 1


def test_a_spool_without_permission_is_loud_in_status(node: Path, tmp_path: Path) -> None:
    """The plugin goes on without a word, `status` says why nothing is written, and the count becomes a gap."""
    state = tmp_path / "state"
    spool = state / "limpet" / "spool"
    spool.mkdir(parents=True)
    assert limpet(state, "status")[0] == 0
    spool.chmod(0o500)
    plugin = Plugin(node, spool.parent, tmp_path, WITHOUT_RIGHTS)
    assert plugin.append(2) == {"written": 0, "dropped": 2}
    status, said = limpet(state, "status", prefix=WITHOUT_RIGHTS)
    assert (status, "Permission denied" in said["sentence"]) == (5, True), said
    spool.chmod(0o700)
    assert plugin.append(1)["written"] >= 1
    assert plugin.end() == ""
    assert len(limpet(state, "recent", "--type", "gap")[1]["events"]) == 1


def test_a_full_disk_under_the_database_loses_nothing(node: Path, tmp_path: Path) -> None:
    """What cannot be committed stays in the spool, is said plainly, and is there once when there is room again."""
    state = tmp_path / "state"
    with small_disk(state / "memory", "3m") as memory:
        assert limpet(state, "status")[0] == 0
        plugin = Plugin(node, state / "limpet", tmp_path)
        (memory / "filler").write_bytes(bytes(2_300_000))
        assert plugin.append(600) == {"written": 600, "dropped": 0}
        assert plugin.end() == ""
        limpet(state, "drain")
        (memory / "filler").unlink()
        assert limpet(state, "drain")[1] == {"pending_bytes": 0}
        assert limpet(state, "recent", "--type", "cron", "--hours", "1")[1]["count"] == 600
        assert limpet(state, "verify")[1]["faults"] == []
