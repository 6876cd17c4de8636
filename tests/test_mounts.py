"""A database on the file system of a network or a host: nothing is written there, and that is said (field case F52)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab import Lab, call, ended, until
from limpet import mounts
from limpet.errors import Unavailable
from limpet.store import opening

if TYPE_CHECKING:
    from lab import Done

HERE = "36 35 98:0 / {point} rw,noatime shared:1 master:2 - {kind} some:thing rw,errors=continue\n"
RUN = "import sys; from pathlib import Path; from limpet import mounts; mounts.TABLE = Path({table!r}); from limpet.cli.main import run; run()"
SHARED = ["nfs", "nfs4", "cifs", "9p", "virtiofs", "fuse.sshfs", "fuse.rclone", "fakeowner", "vboxsf"]
LOCAL = ["ext4", "xfs", "btrfs", "overlay", "tmpfs", "zfs", "fuse.fuse-overlayfs", "fuseblk"]


@pytest.fixture
def mounted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Mounted:
    """Return a state folder that can be made to lie on any file system, as far as the kernel's table tells."""
    return Mounted(lab, monkeypatch)


class Mounted:
    """A table of mounts of the test's own, in this process and in those that it starts."""

    def __init__(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        """Begin with a machine that has one disk."""
        self.lab = lab
        self.table = lab.folder / "mountinfo"
        self.on("ext4", lab.folder)
        monkeypatch.setattr(mounts, "TABLE", self.table)

    def on(self, kind: str, point: Path) -> None:
        """Mount this kind of file system there, over a root of ext4."""
        lines = [HERE.format(point="/", kind="ext4"), "no mount at all\n", HERE.format(point=escaped(point), kind=kind)]
        self.table.write_text("".join(lines))

    def limpet(self, *arguments: str) -> Done:
        """Run the command line on it, to its end."""
        return self.lab.code(RUN.format(table=str(self.table)), *arguments)


def escaped(path: Path) -> str:
    """Return a path as the kernel writes it: three octal digits for a blank."""
    return str(path).replace("\\", "\\134").replace(" ", "\\040")


@pytest.mark.parametrize("kind", SHARED)
def test_nothing_is_written_where_another_machine_may_have_the_file(mounted: Mounted, kind: str) -> None:
    """Neither a database nor its folder is made, and the sentence names the file system."""
    mounted.on(kind, mounted.lab.folder)
    with pytest.raises(Unavailable, match=f"lies on {kind},"):
        opening.open_for_writing(mounted.lab.db)
    assert not mounted.lab.db.parent.exists()


@pytest.mark.parametrize("kind", LOCAL)
def test_a_disk_of_this_machine_will_do(mounted: Mounted, kind: str) -> None:
    """Whatever it is made of, FUSE included."""
    mounted.on(kind, mounted.lab.folder)
    opening.open_for_writing(mounted.lab.db).close()
    assert mounted.lab.db.exists()


def test_the_nearest_mount_decides_and_a_link_is_followed(mounted: Mounted, tmp_path: Path) -> None:
    """Blanks in names, a link into the network, a name that only begins alike, and the root of a virtual machine."""
    share = tmp_path / "a share"
    share.mkdir()
    (tmp_path / "link").symlink_to(share)
    mounted.on("nfs4", share)
    asked = [tmp_path / name for name in ("a share/x/y.db", "link/y.db", "a share 2/y.db", "y.db")]
    assert [mounts.shared(path) for path in asked] == ["nfs4", "nfs4", "", ""]
    mounted.on("9p", Path("/"))
    assert mounts.shared(share / "y.db") == ""


def test_without_a_table_every_disk_is_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other systems have none."""
    monkeypatch.setattr(mounts, "TABLE", tmp_path / "none")
    assert mounts.shared(tmp_path / "x.db") == ""


def test_a_memory_that_cannot_begin_there_is_said_by_every_command(mounted: Mounted) -> None:
    """Status exits 5, doctor names the link, a question says why, and what was written waits in the spool."""
    mounted.on("nfs4", mounted.lab.state)
    said = "lies on nfs4"
    mounted.lab.spool([call("c-1")])
    status, doctor = (mounted.limpet(name, "--json") for name in ("status", "doctor"))
    recent, added = mounted.limpet("recent"), mounted.limpet("add", "note", "hello")
    assert (status.status, status.json["breaks"][0]["code"], said in status.json["sentence"]) == (5, "place", True)
    assert (doctor.status, doctor.json["broken"]) == (5, "recorder")
    assert (recent.status, said in recent.err, added.status) == (4, True, 0)
    assert len(mounted.lab.left_in_spool()) == 2
    assert not mounted.lab.db.exists()


def test_a_memory_that_was_moved_there_is_read_and_said_to_stand_still(mounted: Mounted) -> None:
    """What it holds is answered, with the warning; what comes waits, and is taken in once it lies on a disk again."""
    mounted.lab.take([call("c-1")])
    before = mounted.lab.db.read_bytes()
    mounted.on("cifs", mounted.lab.state)
    mounted.lab.spool([call("c-2")], segment=2)
    status, answer = (mounted.limpet(*words, "--json") for words in (["status"], ["ask", "tool calls"]))
    assert (status.status, status.json["breaks"][0]["code"]) == (5, "place")
    assert (answer.json["count"], "lies on cifs" in answer.json["coverage"]["warning"]) == (1, True)
    assert mounted.lab.db.read_bytes() == before
    mounted.on("ext4", mounted.lab.state)
    assert mounted.limpet("ask", "tool calls", "--json").json["count"] == 2


def test_a_sidecar_stays_up_there_says_so_and_goes_on_when_the_place_is_right(mounted: Mounted) -> None:
    """It tries again and again; nothing is lost meanwhile."""
    mounted.on("nfs", mounted.lab.state)
    mounted.lab.spool([call("c-1")])
    sidecar = mounted.lab.code_started(RUN.format(table=str(mounted.table)), "run")
    until(lambda: "lies on nfs" in str(mounted.lab.asked(op="hello").get("complaint")), "the sidecar says why")
    status = mounted.limpet("status", "--json")
    assert [one["code"] for one in status.json["breaks"]] == ["place"]
    mounted.on("ext4", mounted.lab.state)
    until(lambda: mounted.lab.left_in_spool() == [], "it records")
    sidecar.terminate()
    assert "cannot record" in ended(sidecar).err
    assert [event.call for event in mounted.lab.events("tool_call")] == ["c-1"]
