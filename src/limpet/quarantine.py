"""Where lines are kept that could not be read: redacted, with the reason, counted, and in nobody's way."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from limpet import jsonline
from limpet.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from limpet.model import Json, Reject

MOST = 10_000
"""Files that are kept; what comes after them is counted and not kept."""

KEPT_BYTES = 1 << 20


class Cleaner(Protocol):
    """What takes secrets out; see `limpet.redact.Redactor`."""

    def redact(self, value: Json, /) -> tuple[Json, Mapping[str, int]]:
        """Return the value without secrets, and how many there were by kind."""
        ...

    def redact_text(self, said: str, /) -> tuple[str, Mapping[str, int]]:
        """Return a text without secrets, and how many there were by kind."""
        ...

    def redact_bytes(self, content: bytes, /) -> bytes:
        """Return bytes that are no JSON, without secrets."""
        ...


class Quarantine:
    """A folder with one small file for each line that could not be read; the same line twice is one file."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made when first needed."""
        self._folder = folder

    def keep(self, reject: Reject, redactor: Cleaner) -> str:
        """Keep a line without its secrets and return its file's name. Raises Unavailable where it cannot be written."""
        content = redactor.redact_bytes(reject.content[:KEPT_BYTES])
        reason, _ = redactor.redact_text(reject.reason)
        where, _ = redactor.redact_text(reject.where)
        where_said = reject.where.encode("utf-8", "backslashreplace")
        name = hashlib.sha256(b"\n".join((where_said, reject.reason.encode(), content))).hexdigest()[:16] + ".json"
        said = {
            "source": reject.source,
            "where": where,
            "reason": reason,
            "bytes": len(reject.content),
            "content": content.decode("utf-8", "backslashreplace"),
        }
        if self.count() < MOST:
            self._write(name, jsonline.dump(said))
        return name

    def count(self) -> int:
        """Return how many lines are kept."""
        return sum(1 for _ in self._files())

    def entries(self) -> Iterator[Json]:
        """Yield what is kept: source, where, reason, bytes, content."""
        for _, said in self.named():
            yield said

    def named(self) -> Iterator[tuple[str, Json]]:
        """Yield (file name, what is kept); what cannot be read is passed over."""
        for path in self._files():
            with contextlib.suppress(OSError, ValueError):
                if isinstance(said := jsonline.parse(path.read_bytes()), dict):
                    yield path.name, said

    def unclean(self, redactor: Cleaner) -> Iterator[tuple[str, Json]]:
        """Yield (file name, what should stand there) of each line in which secrets are found now."""
        for name, said in self.named():
            clean = {
                **said,
                **{key: redactor.redact_text(str(said[key]))[0] for key in ("where", "reason") if key in said},
            }
            clean["content"] = redactor.redact_bytes(str(said.get("content", "")).encode()).decode("utf-8", "replace")
            if clean != said:
                yield name, clean

    def clean(self, redactor: Cleaner) -> None:
        """Take out of what is kept the secrets that are found now."""
        for name, said in [*self.unclean(redactor)]:
            (self._folder / name).unlink()
            self._write(name, jsonline.dump(said))

    def drop(self, names: Iterable[str]) -> None:
        """Delete what is kept under these file names."""
        for name in names:
            if name == Path(name).name:
                (self._folder / name).unlink(missing_ok=True)

    def _files(self) -> Iterator[Path]:
        yield from sorted(self._folder.glob("*.json")) if self._folder.is_dir() else ()

    def _write(self, name: str, content: bytes) -> None:
        path = self._folder / name
        if path.exists():
            return
        old = os.umask(0o077)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            half = path.with_suffix(".half")
            with half.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # the segment that it comes from is deleted after this
            half.rename(path)
        except OSError as error:
            raise Unavailable(
                f"The quarantine {self._folder} cannot be written: {error.strerror}.",
                "Check the disk, and that folder's owner and permissions; nothing is lost meanwhile.",
            ) from error
        finally:
            os.umask(old)
