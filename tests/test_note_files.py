"""A note's way into its file: beside others who write it, killed at any step, and where it cannot be written."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from limpet.errors import BadInput, Unavailable
from limpet.note import files
from limpet.note.block import Block, Merged, merged

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = "2026-05-04"
NAME = f"{DAY}.md"
HUMAN = b"# 2026-05-04\n\nWritten by me, keep!  two  spaces \nwindows line\r\n- [ ] call the dentist\n\tTabbed line\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return an agent's workspace with a human's note in it."""
    (tmp_path / "workspace" / "memory").mkdir(parents=True)
    (tmp_path / "workspace" / "memory" / NAME).write_bytes(HUMAN)
    return tmp_path / "workspace"


def change(number: int = 0) -> Callable[[bytes], Merged]:
    """Return what puts the day's note, in one of its versions, into a file's bytes."""
    return lambda existing: merged(existing, Block(DAY, "main", f"## The day\n\nversion {number}\n", f"s{number}"))


def file_of(workspace: Path) -> Path:
    """Return the note's file."""
    return workspace / "memory" / NAME


def outside(content: bytes) -> bytes:
    """Return what stands outside our blocks."""
    return re.sub(rb"<!-- limpet:begin .*?<!-- limpet:end -->\r?\n?", b"", content, flags=re.DOTALL)


def beside(workspace: Path) -> list[str]:
    """Return the files that lie in the folder beside the note."""
    return sorted(path.name for path in (workspace / "memory").iterdir() if path.name != NAME)


def test_a_note_is_written_once(workspace: Path) -> None:
    """The first run changes the file, the second neither its bytes nor its time; nothing is left beside it."""
    first = files.write(workspace, NAME, change())
    before = file_of(workspace).stat()
    second = files.write(workspace, NAME, change())
    after = file_of(workspace).stat()
    assert (True, False, (before.st_ino, before.st_mtime_ns)) == (
        first.changed,
        second.changed,
        (after.st_ino, after.st_mtime_ns),
    )
    assert (outside(file_of(workspace).read_bytes()), beside(workspace)) == (HUMAN, [])


def test_a_note_without_a_file_gets_one_as_open_as_its_folder(tmp_path: Path) -> None:
    """Also where there is no folder `memory` yet."""
    workspace = tmp_path / "workspace"
    workspace.mkdir(mode=0o700)
    files.write(workspace, NAME, change())
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (workspace / "memory", file_of(workspace))]
    assert (outside(file_of(workspace).read_bytes()), modes) == (b"", [0o700, 0o600])


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_mode_owner_and_attributes_are_kept(workspace: Path, mode: int) -> None:
    """The new version is the old one's in every respect."""
    file_of(workspace).chmod(mode)
    if os.geteuid() == 0:
        os.chown(file_of(workspace), 1234, 2345)
    attributes = with_attribute(file_of(workspace))
    before = file_of(workspace).stat()
    files.write(workspace, NAME, change())
    after = file_of(workspace).stat()
    assert (mode, before.st_uid, before.st_gid) == (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid)
    assert attributes == [os.getxattr(file_of(workspace), name) for name in os.listxattr(file_of(workspace))]


def with_attribute(path: Path) -> list[bytes]:
    """Give a file an extended attribute where its file system has any; return all it has."""
    with suppress(OSError):
        os.setxattr(path, "user.limpet.test", b"mine")
    return [os.getxattr(path, name) for name in os.listxattr(path)]


APPENDER = """
import os, sys, time
path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for number in range(first, first + count):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    if number % 3 == 0:
        time.sleep(0.0005 * (number % 7))
    os.write(fd, f"- agent line {number}\\n".encode())
    os.close(fd)
    if number % 5 == 0:
        time.sleep(0.0003 * (number % 11))
"""

REWRITER = """
import os, sys, threading, time
path, lock = sys.argv[1], threading.Lock()

def append():
    for number in range(200):
        with lock, open(path, "ab", buffering=0) as file:
            file.write(f"- agent line {number}\\n".encode())
        time.sleep(0.002)

def rewrite():
    for number in range(2):
        time.sleep(0.1)
        with lock:
            time.sleep(0.05)
            with open(path, "rb") as file:
                content = file.read()
            with open(path + ".agent", "wb") as file:
                file.write(content + f"- agent rewrite {number}\\n".encode())
            os.rename(path + ".agent", path)

print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=append), threading.Thread(target=rewrite)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def started(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    """Start a program that writes the file, up to the moment at which it would begin."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_no_line_is_lost_in_two_hundred_interleavings(workspace: Path) -> None:
    """The note is replaced again and again while another process appends: every line of its is there, once."""
    appender = started(APPENDER, file_of(workspace), 0, 2000)
    begin(appender)
    written = 0
    while written < 200 or appender.poll() is None:
        written += files.write(workspace, NAME, change(written)).changed
    assert ended(appender) == 0
    assert_whole(workspace, [f"- agent line {number}" for number in range(2000)], written - 1)


def begin(process: subprocess.Popen[bytes]) -> None:
    """Let a program begin."""
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.close()


def ended(process: subprocess.Popen[bytes]) -> int:
    """Wait for a program's end and return its exit status."""
    assert process.stdout is not None
    process.stdout.close()
    return process.wait(60)


def assert_whole(workspace: Path, lines: list[str], version: int) -> None:
    """Hold that the human's text and each of these lines are there once, with one block, the newest."""
    content = file_of(workspace).read_bytes()
    assert lines == sorted(_told(content), key=_number)
    assert content.startswith(HUMAN)
    assert (1, 1, f"version {version}\n".encode() in content, []) == (
        content.count(b"<!-- limpet:begin"),
        content.count(b"<!-- limpet:end -->"),
        True,
        beside(workspace),
    )


def _told(content: bytes) -> list[str]:
    return [line for line in content.decode().splitlines() if line.startswith("- agent line")]


def _number(line: str) -> int:
    return int(line.rsplit(" ", 1)[1])


def test_appends_and_rewrites_and_two_limpets_at_once_lose_nothing(workspace: Path) -> None:
    """An agent appends 200 lines and replaces the file twice, two of us write 25 times each (field case F82)."""
    ours = """
import sys
from pathlib import Path
from limpet.note import files
from limpet.note.block import Block, merged
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    files.write(Path(sys.argv[1]), "2026-05-04.md", lambda was: merged(was, Block("2026-05-04", "main", f"version {number}\\n", "s")))
"""
    others = [
        started(REWRITER, file_of(workspace)),
        started(ours, workspace),
        started(ours, workspace),
    ]
    for process in others:
        begin(process)
    assert [ended(process) for process in others] == [0, 0, 0]
    files.write(workspace, NAME, change(99))
    assert [f"- agent rewrite {n}" for n in (0, 1)] == re.findall(
        r"- agent rewrite \d", file_of(workspace).read_text("utf-8")
    )
    assert_whole(workspace, [f"- agent line {number}" for number in range(200)], 99)


def test_what_is_written_into_the_former_version_is_brought_over(workspace: Path) -> None:
    """A program that opened the file before it was replaced, and writes after: its line is in the new one."""
    with file_of(workspace).open("ab", buffering=0) as opened:
        program = 'import sys, time\ntime.sleep(0.3)\nsys.stdout.buffer.write(b"- a late line\\n")\nsys.stdout.flush()'
        late = subprocess.Popen([sys.executable, "-c", program], stdout=opened)
    files.write(workspace, NAME, change())
    assert late.wait(30) == 0
    assert b"- a late line\n" in file_of(workspace).read_bytes()
    assert (outside(file_of(workspace).read_bytes()), beside(workspace)) == (HUMAN + b"- a late line\n", [])


def test_a_file_that_a_program_keeps_open_is_left_alone(workspace: Path) -> None:
    """It would go on writing where nobody reads it: that is said, nothing is changed, and later it works."""
    with file_of(workspace).open("ab"):
        with pytest.raises(Unavailable, match="open for writing"):
            files.write(workspace, NAME, change())
        assert file_of(workspace).read_bytes() == HUMAN
    assert files.write(workspace, NAME, change()).changed


KILLED = """
import os, signal, sys
from pathlib import Path
from limpet.note import exchange, files, folder
from limpet.note.block import Block, merged

ours = {module.__file__ for module in (files, folder, exchange)}
left = int(sys.argv[2])

def count(frame, event, _):
    global left
    if event.startswith("c_") and frame.f_code.co_filename in ours:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(count)
files.write(Path(sys.argv[1]), "2026-05-04.md", lambda was: merged(was, Block("2026-05-04", "main", "the note\\n", "s")))
"""
FORKED = """
import os, shutil, sys
from pathlib import Path

code, folder = sys.argv[1], Path(sys.argv[2])
human = (folder / "memory" / "2026-05-04.md").read_bytes() if sys.argv[3] == "there" else None
import ctypes, limpet.note.files, limpet.note.block
for step in range(1, 1000):
    place = folder.with_name(f"killed-{step}")
    (place / "memory").mkdir(parents=True)
    if human is not None:
        (place / "memory" / "2026-05-04.md").write_bytes(human)
    child = os.fork()
    if child == 0:
        sys.argv = ["", str(place), str(step)]
        exec(compile(code, "killed", "exec"), {})
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        print(step)
        break
"""


@pytest.mark.parametrize("there", ["there", "not there"])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_file(workspace: Path, there: str) -> None:
    """Before and after every call of the system, in a real process; the next run makes all good and leaves nothing."""
    command = [sys.executable, "-c", FORKED, KILLED, str(workspace), there]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    last = int(done.stdout)
    old = HUMAN if there == "there" else b""
    new = merged(old, Block(DAY, "main", "the note\n", "s")).content
    seen = set()
    for step in range(1, last):
        place = workspace.with_name(f"killed-{step}")
        seen.add(files.read(place, NAME))
        files.write(place, NAME, lambda was: merged(was, Block(DAY, "main", "the note\n", "s")))
        assert (new, []) == (files.read(place, NAME), beside(place)), step
    assert ({old, new}, True) == (seen, last > 60)


def test_what_was_appended_before_a_kill_is_not_lost(workspace: Path) -> None:
    """Killed right after the exchange, with a line in the former version: the next run brings it over."""
    new = change()(HUMAN).content
    former = files._beside(NAME, new, HUMAN)
    (workspace / "memory" / former).write_bytes(HUMAN + b"- a line\n")
    file_of(workspace).write_bytes(new)
    files.write(workspace, NAME, change())
    assert (outside(file_of(workspace).read_bytes()), beside(workspace)) == (HUMAN + b"- a line\n", [])


def test_a_version_that_somebody_wrote_in_the_same_moment_stands(workspace: Path) -> None:
    """Rewritten by a program between our look and our exchange: its text stays, and the block goes into it."""
    new = change()(HUMAN).content
    (workspace / "memory" / files._beside(NAME, new, HUMAN)).write_bytes(b"rewritten\n")
    file_of(workspace).write_bytes(new + b"- appended to ours\n")
    files.write(workspace, NAME, change())
    content = file_of(workspace).read_bytes()
    assert (
        outside(content),
        content.count(b"<!-- limpet:begin"),
        beside(workspace),
    ) == (b"rewritten\n- appended to ours\n", 1, [])


def test_a_workspace_that_is_missing_is_said(tmp_path: Path) -> None:
    """Nothing is made where no agent lives."""
    with pytest.raises(Unavailable, match="no workspace"):
        files.write(tmp_path / "nowhere", NAME, change())
    assert not (tmp_path / "nowhere").exists()


def a_folder_in_its_place(workspace: Path) -> None:
    """Give the file's name to a folder."""
    file_of(workspace).unlink()
    file_of(workspace).mkdir()


def a_file_for_the_folder(workspace: Path) -> None:
    """Give the folder's name to a file."""
    file_of(workspace).unlink()
    (workspace / "memory").rmdir()
    (workspace / "memory").write_bytes(HUMAN)


def a_link_out(workspace: Path) -> None:
    """Let the file be a link to one outside."""
    file_of(workspace).rename(workspace.parent / "outside.md")
    file_of(workspace).symlink_to(workspace.parent / "outside.md")


def a_folder_link_out(workspace: Path) -> None:
    """Let the folder be a link to one outside."""
    (workspace / "memory").rename(workspace.parent / "outside")
    (workspace / "memory").symlink_to(workspace.parent / "outside")


def no_utf8(workspace: Path) -> None:
    """Write it as UTF-16."""
    file_of(workspace).write_bytes("# Mine\n".encode("utf-16"))


def read_only(workspace: Path) -> None:
    """Its owner wants nobody to change it."""
    file_of(workspace).chmod(0o444)


def a_pipe(workspace: Path) -> None:
    """Put a named pipe there, at which one would wait for ever."""
    file_of(workspace).unlink()
    os.mkfifo(file_of(workspace))


@pytest.mark.parametrize(
    "spoil", [a_folder_in_its_place, a_file_for_the_folder, a_link_out, a_folder_link_out, no_utf8, read_only, a_pipe]
)
def test_where_it_cannot_be_written_nothing_is_destroyed(workspace: Path, spoil: Callable[[Path], None]) -> None:
    """A clear sentence that names the file, and every byte in and outside the workspace as it was."""
    spoil(workspace)
    before = everything(workspace.parent)
    with pytest.raises((BadInput, Unavailable)) as caught:
        files.write(workspace, NAME, change())
    assert (True, before) == (str(file_of(workspace)) in caught.value.message, everything(workspace.parent))


def everything(folder: Path) -> dict[str, object]:
    """Return each path below a folder with what it is and holds."""
    found = sorted(folder.rglob("*"))
    return {str(p): p.read_bytes() if p.is_file() and not p.is_fifo() else p.lstat().st_mode for p in found}


def test_a_link_within_the_workspace_is_followed(workspace: Path) -> None:
    """Its target is written; the link stays."""
    (workspace / "notes").mkdir()
    file_of(workspace).rename(workspace / "notes" / "today.md")
    file_of(workspace).symlink_to(workspace / "notes" / "today.md")
    files.write(workspace, NAME, change())
    assert (file_of(workspace).is_symlink(), outside((workspace / "notes" / "today.md").read_bytes())) == (True, HUMAN)


def test_a_full_disk_destroys_nothing(workspace: Path) -> None:
    """The system refuses the bytes of the new version: the old one stands, nothing lies beside it, and it is said."""
    code = """
import resource, signal, sys
from pathlib import Path
from limpet.errors import Unavailable
from limpet.note import files
from limpet.note.block import Block, merged
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (120, 120))
try:
    files.write(Path(sys.argv[1]), "2026-05-04.md", lambda was: merged(was, Block("2026-05-04", "main", "x" * 500, "s")))
except Unavailable as error:
    print(error.message)
"""
    done = subprocess.run([sys.executable, "-c", code, str(workspace)], capture_output=True, text=True, check=True)
    assert ("cannot be written" in done.stdout, file_of(workspace).read_bytes(), beside(workspace)) == (True, HUMAN, [])


def test_a_folder_that_may_not_be_written_is_said() -> None:
    """The system's own word for it, with the file's name (field case F96); root, who may write everywhere, steps down."""
    code = """
import ctypes, os, sys
from pathlib import Path
from limpet.errors import Unavailable
from limpet.note import files
from limpet.note.block import Block, merged
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    files.write(Path(sys.argv[1]), "2026-05-04.md", lambda was: merged(was, Block("2026-05-04", "main", "x", "s")))
except Unavailable as error:
    print(error.message)
"""
    with TemporaryDirectory() as place:
        workspace = Path(place, "workspace")
        (workspace / "memory").mkdir(parents=True)
        for folder in (Path(place), workspace, workspace / "memory"):
            folder.chmod(0o555)
        done = subprocess.run([sys.executable, "-c", code, str(workspace)], capture_output=True, text=True, check=True)
        Path(place).chmod(0o755)
        workspace.chmod(0o755)
    assert done.stdout == f"{file_of(workspace)} cannot be written: Permission denied.\n"


def test_a_system_without_exchange_keeps_every_promise(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two files cannot change places in one step, links do; what others append is still brought over."""
    monkeypatch.setattr("limpet.note.exchange._renamed", lambda *_: False)
    appender = started(APPENDER, file_of(workspace), 0, 300)
    begin(appender)
    written = 0
    while written < 30 or appender.poll() is None:
        written += files.write(workspace, NAME, change(written)).changed
    assert ended(appender) == 0
    assert_whole(workspace, [f"- agent line {number}" for number in range(300)], written - 1)
