"""Secrets in odd places: in no file that Limpet keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab import Lab


def test_no_secret_is_kept_in_the_names_of_sources_and_places(lab: Lab):
    """A token as a line's source, as a producer's folder and as a file's name is in no file that Limpet keeps."""
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    lab.take(
        [{"id": "1", "source": token, "hook": "limpet_add", "event": {"type": "note"}}, b"no json\n"], producer=token
    )
    lab.file(f"old/{token}.jsonl", [{"id": "2", "hook": "limpet_add", "event": {"type": "note"}}, b"no json\n"])
    lab.imported(lab.folder / "old")
    kept = [path for path in lab.state.rglob("*") if path.is_file() and "spool" not in path.parts]
    assert len(lab.quarantined()) == 2
    assert [path for path in kept if token.encode() in path.read_bytes()] == []
