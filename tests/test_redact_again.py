"""Cleaning the past again: what better rules find now is taken out of what was kept before, and the chain holds."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from lab import Lab, call, hook, numbered, text_result

if TYPE_CHECKING:
    from pathlib import Path

BADGE = "ACME-123456"
PATTERN = '[secrets]\n"acme badge" = "ACME-[0-9]{6}"\n'
LONG = f"{'words ' * 600}{BADGE}{' more' * 600}"


@pytest.fixture
def unwitting(lab: Lab) -> Lab:
    """Return a memory that holds badges, in every place, since nobody had told it what a badge is."""
    (lab.state / "workspace").mkdir(parents=True)
    lab.take(
        [
            *numbered(
                [
                    hook("gateway_start", {"port": 1}),
                    call("c-1", 5, begins=True, params={"command": f"login {BADGE}"}),
                    call("c-1", 9, params={"command": f"login {BADGE}"}, error=f"badge {BADGE} refused"),
                    call("c-2", 20, tool=f"use_{BADGE}", result=text_result(LONG)),
                    call("c-3", 30),
                ]
            ),
            f'{{"torn": "{BADGE}\n'.encode(),
        ]
    )
    assert lab.limpet("note", "--date", "2026-06-01", "--now", "2026-06-02T09:00:00+00:00").status == 0
    (lab.home / "config.toml").write_text(PATTERN)
    return lab


def kept(lab: Lab) -> list[Path]:
    """Return every file that Limpet keeps, but for its settings."""
    found = [path for root in (lab.home, lab.db.parent, lab.state / "workspace") for path in root.rglob("*")]
    return [path for path in found if path.is_file() and path.name != "config.toml"]


def holding(lab: Lab) -> list[str]:
    """Return the files and records in which a badge still stands."""
    plain = [path.name for path in kept(lab) if BADGE.lower().encode() in path.read_bytes().lower()]
    return plain + [f"record {record.no}" for record in lab.records() if BADGE in str(record)]


def test_a_first_look_only_counts(unwitting: Lab) -> None:
    """And says how to go on."""
    done = unwitting.limpet("redact")
    assert done.status == 0
    assert "secrets found in 3 records and 1 line of quarantine" in done.out
    assert "limpet redact --again" in done.err
    assert holding(unwitting) != []


def test_what_is_found_now_is_taken_out_of_the_past(unwitting: Lab) -> None:
    """Ledger, events, names, index, quarantine and notes; a mask says what stood there."""
    said = unwitting.limpet("redact", "--again", "--json").json
    assert (said["records"], said["quarantine"], said["cleaned"]) == (3, 1, True)
    assert holding(unwitting) == []
    assert [event.call for event in unwitting.events("tool_call")] == ["c-1", "c-2", "c-3"]
    assert "⟦removed: acme badge #" in unwitting.events("tool_call")[0].error
    assert "⟦removed: acme badge #" in unwitting.events("tool_call")[1].tool
    assert unwitting.found("123456") == []
    assert unwitting.counts()["secret: acme badge"] == said["kinds"]["acme badge"]


def test_the_chain_holds_and_a_second_time_finds_nothing(unwitting: Lab) -> None:
    """A record of the ledger maps each old leaf to the new one; a rebuild gives the same."""
    unwitting.limpet("redact", "--again")
    found = unwitting.verdict()
    assert found.faults == ()
    assert unwitting.limpet("redact", "--again", "--json").json["records"] == 0
    assert unwitting.limpet("rebuild").status == 0
    assert unwitting.verdict() == found


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE content SET codec = 0, bytes = cast('{}' AS BLOB) WHERE no = 2",
        "UPDATE record SET nonce = randomblob(16) WHERE no = 2",
        "UPDATE record SET arrived_ms = 1 WHERE no = 2",
        "UPDATE record SET leaf = randomblob(32) WHERE no = 2",
        "UPDATE record SET leaf = NULL WHERE no = 2",
    ],
)
def test_what_was_cleaned_cannot_be_changed_unseen(unwitting: Lab, change: str) -> None:
    """The new leaf is vouched for by the chain."""
    unwitting.limpet("redact", "--again")
    with closing(apsw.Connection(str(unwitting.db))) as connection:
        connection.execute(change)
    assert unwitting.verdict().faults != ()


def test_what_was_cleaned_can_be_forgotten_and_handed_out(unwitting: Lab) -> None:
    """One after the other, and the chain goes through it all."""
    unwitting.limpet("redact", "--again")
    assert unwitting.limpet("forget", "--yes", "call:c-1").status == 0
    assert unwitting.verdict().faults == ()
    assert unwitting.limpet("backup", str(unwitting.folder / "a.db")).status == 0


def test_new_events_are_cleaned_by_the_users_patterns(unwitting: Lab) -> None:
    """Before they are written."""
    unwitting.limpet("redact", "--again")
    unwitting.take([call("c-9", 90, result=text_result(f"the badge {BADGE}"))], producer="later")
    assert holding(unwitting) == []


@pytest.mark.parametrize("said", ["badge = 5", 'badge = "(unclosed"', 'badge = ""'])
def test_a_pattern_that_cannot_be_read_stops_before_anything_is_written(lab: Lab, said: str) -> None:
    """Half of the rules would be worse than none; the lines wait in the spool."""
    lab.spool([call("c-1", 1)])
    (lab.home / "config.toml").write_text(f"[secrets]\n{said}\n")
    done = lab.limpet("drain")
    assert (done.status, "badge" in done.err) == (2, True)
    assert lab.left_in_spool() == ["plugin/1.jsonl"]
