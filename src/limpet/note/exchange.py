"""Two files of one folder change their names in one step, which no other program can see half done. Linux has that."""

from __future__ import annotations

import contextlib
import errno
import os

NO_REPLACE, EXCHANGE = 1, 2
"""renameat2(2)."""

NOT_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})


def exchange(folder: int, new: str, name: str) -> None:
    """Let `new` and `name`, of an open folder, change places: no version of `name` is ever without a name.

    Where the system cannot do that, `new` replaces `name`, whose former bytes stay under `new`'s name all the same.
    Raises OSError.
    """
    if _renamed(folder, new, name, EXCHANGE):
        return
    spare = f"{new}.spare"
    os.link(name, spare, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.rename(spare, new, src_dir_fd=folder, dst_dir_fd=folder)


def place(folder: int, new: str, name: str) -> bool:
    """Give `new` the name `name` where nothing has it; return False where something does. Raises OSError."""
    try:
        if not _renamed(folder, new, name, NO_REPLACE):
            os.link(new, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new, dir_fd=folder)
    except FileExistsError:
        return False
    return True


def _renamed(folder: int, old: str, new: str, how: int) -> bool:
    """Rename as renameat2(2) does; return False where neither system nor file system can."""
    import ctypes  # noqa: PLC0415 - only where a note is written

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(folder, os.fsencode(old), folder, os.fsencode(new), how) == 0:
        return True
    number = ctypes.get_errno()
    if number in NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), new)
