"""The chain over what was said: whatever is changed behind Limpet's back is found, and told with exit status 5."""

from __future__ import annotations

import pytest

from lab import Lab, call, hook, text_result

TAMPER = (
    "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.commit(); db.close()"
)

CHANGES = {
    "a record's bytes": "UPDATE content SET codec = 0, bytes = cast('{\"hook\":\"gateway_start\"}' AS BLOB) WHERE no = 4",
    "a record's packed bytes": "UPDATE content SET bytes = substr(bytes, 1, 20) WHERE no = 4",
    "a record's packing": "UPDATE content SET codec = 9 WHERE no = 4",
    "a record's time of arrival": "UPDATE record SET arrived_ms = arrived_ms + 1 WHERE no = 3",
    "a record's number in its stream": "UPDATE record SET seq = seq + 1 WHERE no = 3",
    "a record's kind": "UPDATE record SET kind = (SELECT kind FROM record WHERE no = 1) WHERE no = 3",
    "a record's id": "UPDATE record SET id = randomblob(16) WHERE no = 3",
    "a record's nonce": "UPDATE record SET nonce = randomblob(16) WHERE no = 3",
    "a record's hash": "UPDATE record SET hash = randomblob(32) WHERE no = 3",
    "the name of every source": "UPDATE name SET value = 'elsewhere' WHERE value = 'openclaw.hooks'",
    "a record taken out": "DELETE FROM content WHERE no = 3; DELETE FROM record WHERE no = 3",
    "the last record taken out": "DELETE FROM content WHERE no = 6; DELETE FROM record WHERE no = 6",
    "the first record taken out": "DELETE FROM content WHERE no = 1; DELETE FROM record WHERE no = 1",
    "a content taken out": "DELETE FROM content WHERE no = 3",
    "a record put in": "INSERT INTO record SELECT 7, randomblob(16), source, stream, seq, kind, arrived_ms, nonce, leaf, hash FROM record WHERE no = 6; INSERT INTO content SELECT 7, codec, bytes FROM content WHERE no = 6",
    "two records in each other's place": "UPDATE content SET no = -2 WHERE no = 2; UPDATE content SET no = 2 WHERE no = 3; UPDATE content SET no = 3 WHERE no = -2",
    "a large text": "UPDATE body SET codec = 0, bytes = cast('another text' AS BLOB)",
    "an event taken out": "DELETE FROM event WHERE call = 'c-3'",
    "a seeing taken out": "DELETE FROM sighting",
}  # fmt: skip


@pytest.fixture
def ledger(lab: Lab) -> Lab:
    """Return an installation with six records, one of them with a large text, two of one event."""
    lab.take(
        [
            hook("gateway_start", {"port": 1}),
            call("c-2", 5, begins=True),
            call("c-2", 10),
            call("c-3", 20),
            call("c-4", 30, result=text_result("a long text " * 500)),
            call("c-5", 40),
        ]
    )
    return lab


def test_what_nobody_changed_is_clean(ledger: Lab):
    """No fault, exit status 0, also after a rebuild and after more records."""
    assert ledger.limpet("verify").status == 0
    assert ledger.limpet("rebuild").status == 0
    ledger.take([call("c-6", 50)], producer="later")
    assert ledger.limpet("verify", "--json").json["faults"] == []


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_found(ledger: Lab, what: str):
    """Each change of the ledger, and each event or part that is gone, is a fault with a sentence."""
    assert ledger.code(TAMPER, str(ledger.db), CHANGES[what]).status == 0
    told = ledger.verdict().faults
    assert told
    assert all("record" in fault or "text" in fault or "ledger" in fault for fault in told)


def test_a_fault_is_exit_status_5(ledger: Lab):
    """For programs that ask."""
    ledger.code(TAMPER, str(ledger.db), CHANGES["a record's bytes"])
    done = ledger.limpet("verify", "--json")
    assert (done.status, done.json["ok"]) == (5, False)
    assert "record 4 was changed, or stands in the wrong place" in done.json["faults"]


@pytest.mark.parametrize("what", ["an event taken out", "a seeing taken out"])
def test_an_event_that_was_taken_out_comes_back_with_a_rebuild(ledger: Lab, what: str):
    """Events are made from the ledger, as often as need be."""
    before = ledger.events()
    ledger.code(TAMPER, str(ledger.db), CHANGES[what])
    assert ledger.limpet("rebuild").status == 0
    assert ledger.events() == before
    assert ledger.limpet("verify").status == 0
