"""On what file system a file lies, by the kernel's table of mounts. Not for judging what it means (opening.py)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path("/proc/self/mountinfo")
"""Linux's own table (proc(5)); where there is none, every file is taken to lie on a disk of this machine."""

SHARED = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "9p", "virtiofs", "davfs"),
        *("vboxsf", "vmhgfs", "prl_fs", "drvfs", "fakeowner", "osxfs", "grpcfuse"),
        *(
            "sshfs",
            "rclone",
            "s3fs",
            "gcsfuse",
            "goofys",
            "glusterfs",
            "ceph-fuse",
            "vmhgfs-fuse",
            "curlftpfs",
            "smbnetfs",
        ),
    }
)
"""File systems that another machine has, or the host of this one: networks, and folders shared with a virtual machine.

Of FUSE's the part behind `fuse.`, as their programs call themselves; other FUSE file systems are this machine's own.
"""

ESCAPE = re.compile(r"\\([0-7]{3})")


def shared(path: Path) -> str:
    """Return the name of the network's or host's file system on which this file lies, or would; else "".

    The root of a virtual machine is its own disk, whatever it is made of: nobody else has that open.
    """
    point, kind = _mount_of(path)
    return kind if kind.removeprefix("fuse.") in SHARED and point != Path("/") else ""


def _mount_of(path: Path) -> tuple[Path, str]:
    """Return where the file system is mounted that holds this file, and its kind."""
    real = path.resolve()
    found = (Path("/"), "")
    for point, kind in _mounts():
        if real.is_relative_to(point) and len(point.parts) >= len(found[0].parts):
            found = (point, kind)  # of two at the same place the later one covers the earlier one
    return found


def _mounts() -> Iterator[tuple[Path, str]]:
    try:
        lines = TABLE.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.partition(" ")[0]
        if len(fields) > 4 and kind:
            yield Path(ESCAPE.sub(lambda octal: chr(int(octal[1], 8)), fields[4])), kind
