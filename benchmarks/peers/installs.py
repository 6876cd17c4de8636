"""Where the others are installed: pinned, in folders of their own, kept. Never in the project's venv."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import node
from benchmarks.peers.asking import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AGENTSVIEW = "0.46.1"
LLM = "0.36"
CLAUDE_MEM = "13.25.3"
BUN = "1.4.5"
INSTALL_S = 400


@dataclass(frozen=True)
class Installs:
    """The installed programs; `may_install` says whether to fetch what is not there yet."""

    folder: Path
    may_install: bool

    def agentsview(self) -> Path:
        """Return agentsview's program; raises Unavailable."""
        return self._from_pypi("agentsview", AGENTSVIEW) / "agentsview"

    def llm(self) -> Path:
        """Return the folder with the programs of llm's venv; raises Unavailable."""
        return self._from_pypi("llm", LLM)

    def claude_mem(self) -> Path:
        """Return the node_modules folder with claude-mem and bun; raises Unavailable."""
        return self._there(f"claude-mem-{CLAUDE_MEM}", self._npm) / "node_modules"

    def _from_pypi(self, package: str, version: str) -> Path:
        def install(folder: Path) -> None:
            _run([sys.executable, "-m", "venv", str(folder)])
            _run(
                [
                    str(folder / "bin" / "pip"),
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    f"{package}=={version}",
                ]
            )

        return self._there(f"{package}-{version}", install) / "bin"

    def _npm(self, folder: Path) -> None:
        program = shutil.which("npm")
        if program is None:
            raise Unavailable("npm is not installed")
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}', "utf-8")
        # Without the peers of its parts, which it does not load; and without scripts: bun's binary is in its package.
        wanted = [f"claude-mem@{CLAUDE_MEM}", f"bun@{BUN}"]
        quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--legacy-peer-deps"]
        _run([program, "install", "--prefix", str(folder), *quiet, *wanted])

    def _there(self, name: str, install: Callable[[Path], None]) -> Path:
        folder = self.folder / name
        if (folder / "installed").exists():
            return folder
        if not self.may_install:
            raise Unavailable(f"{name} is not installed, and --quick installs nothing")
        print(f"  {name} is installed into {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        install(folder)
        (folder / "installed").touch()
        return folder


def openclaw() -> Path:
    """Return the folder with OpenClaw and its Node; raises Unavailable."""
    folder = node.openclaw()
    if folder is None:
        raise Unavailable("OpenClaw cannot be installed here (no npm, or no registry)")
    return folder


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"`{' '.join(command)}` took more than {INSTALL_S} s") from error
    if done.returncode:
        raise Unavailable(f"`{' '.join(command)}` failed: {done.stderr.strip()[-300:]}")
