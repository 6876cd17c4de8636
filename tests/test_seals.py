"""Copies of seals lie elsewhere: in daily notes, in backups, with whoever wrote one down. They show what a chain cannot."""

from __future__ import annotations

import json
from contextlib import closing

import apsw
import pytest

from lab import Lab, call

MORNING = "2026-06-02T09:00:00+00:00"
CUT = """
DELETE FROM content WHERE no > 3; DELETE FROM record WHERE no > 3;
UPDATE meta SET value = '3 ' || (SELECT lower(hex(hash)) FROM record WHERE no = 3) WHERE name = 'head'
"""
"""What somebody does who wants the last records gone, and knows how."""


@pytest.fixture
def noted(lab: Lab) -> Lab:
    """Return a memory of five calls of one day, with that day's note in the agent's workspace."""
    lab.take([call(f"c-{n}", n) for n in range(5)])
    (lab.state / "workspace").mkdir()
    assert lab.limpet("note", "--date", "2026-06-01", "--now", MORNING).status == 0
    return lab


def cut_off(lab: Lab) -> None:
    """Cut the end off the ledger, so that the rest of it is a whole one."""
    with closing(apsw.Connection(str(lab.db))) as connection:
        connection.execute(CUT)
    assert lab.limpet("rebuild").status == 0


def head(lab: Lab) -> str:
    """Return the head as `NUMBER:HASH`, as `verify` prints it."""
    return lab.limpet("verify").out.split()[-1]


def test_a_note_carries_the_seal_and_an_untouched_ledger_agrees(noted: Lab) -> None:
    """One seal is found in the workspace and held against the chain."""
    said = noted.limpet("verify", "--json").json
    assert (said["ok"], said["seals"], said["records"]) == (True, 1, 5)


def test_the_end_that_was_cut_off_is_missed_by_the_note(noted: Lab) -> None:
    """A shorter chain is a whole chain; only the copy of the seal tells."""
    cut_off(noted)
    done = noted.limpet("verify")
    assert done.status == 5
    assert "the ledger ends at record 3, but the note of 2026-06-01 (main)" in done.out
    (noted.state / "workspace" / "memory" / "2026-06-01.md").unlink()
    assert noted.limpet("verify").status == 0


def test_a_chain_made_anew_is_contradicted_by_the_note(noted: Lab) -> None:
    """The same number of records, each link right, and not those that the note has the seal of."""
    text = (noted.state / "workspace" / "memory" / "2026-06-01.md").read_bytes()
    for path in noted.db.parent.iterdir():
        path.unlink()
    noted.take([call(f"d-{n}", n) for n in range(5)], producer="forger")
    (noted.state / "workspace" / "memory" / "2026-06-01.md").write_bytes(text)
    done = noted.limpet("verify")
    assert done.status == 5
    assert "record 5 is not the one that the note of 2026-06-01 (main)" in done.out


def test_a_seal_that_was_written_down_is_held_against_the_ledger(noted: Lab) -> None:
    """What `verify` printed once is enough."""
    seal = head(noted)
    assert noted.limpet("verify", "--against", seal).status == 0
    other = f"{seal.partition(':')[0]}:{'0' * 64}"
    assert noted.limpet("verify", "--against", other).status == 5
    (noted.state / "workspace" / "memory" / "2026-06-01.md").unlink()
    cut_off(noted)
    assert noted.limpet("verify", "--against", seal).status == 5


@pytest.mark.parametrize("said", ["5:abc", "nowhere.db"])
def test_what_is_no_seal_is_refused(noted: Lab, said: str) -> None:
    """With a sentence and a hint, and not taken for one that agrees."""
    done = noted.limpet("verify", "--against", said, "--json")
    assert done.status == 3
    assert json.loads(done.out)["error"]["hint"] == "A seal is NUMBER:HASH, a backup, a bundle or a daily note."


def test_a_note_that_somebody_edited_is_no_witness(noted: Lab) -> None:
    """Its seal could be anybody's: it is neither believed nor a fault."""
    path = noted.state / "workspace" / "memory" / "2026-06-01.md"
    path.write_bytes(path.read_bytes().replace(b":5:", b":9:"))
    said = noted.limpet("verify", "--json").json
    assert (said["ok"], said["seals"]) == (True, 0)
