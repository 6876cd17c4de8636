import apsw
import pytest

from agentdb import Follower
from limpet.errors import Unavailable
from limpet.runtimes.openclaw.audit import BATCH_ROWS, AuditSource

SCHEMA = """
CREATE TABLE audit_events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL UNIQUE, source_id TEXT NOT NULL UNIQUE,
  schema_version INTEGER NOT NULL DEFAULT 1, source_sequence INTEGER NOT NULL, occurred_at INTEGER NOT NULL,
  kind TEXT NOT NULL, action TEXT NOT NULL, status TEXT NOT NULL, error_code TEXT, actor_type TEXT NOT NULL,
  actor_id TEXT NOT NULL, agent_id TEXT, session_key TEXT, session_id TEXT, run_id TEXT, tool_call_id TEXT,
  tool_name TEXT, direction TEXT, channel TEXT, conversation_kind TEXT, message_outcome TEXT, reason_code TEXT,
  delivery_kind TEXT, failure_stage TEXT, duration_ms INTEGER, result_count INTEGER, account_ref TEXT,
  conversation_ref TEXT, message_ref TEXT, target_ref TEXT
) STRICT
"""


class Ledger:
    """The gateway's database with its ledger, open in WAL mode."""

    def __init__(self, path, name="e"):
        self.path = path
        self.name = name
        self.db = apsw.Connection(str(path))
        self.db.pragma("journal_mode", "wal")
        self.db.execute(SCHEMA)

    def add(self, count, start=0):
        """Write that many finished tool actions."""
        row = "INSERT INTO audit_events(event_id, source_id, source_sequence, occurred_at, kind, action, status,"
        row += " actor_type, actor_id, agent_id, session_key, session_id, run_id, tool_call_id, tool_name)"
        row += " VALUES (?1, 'src' || ?1, 1, ?2, 'tool_action', 'tool.action.finished', 'succeeded', 'agent', 'main',"
        row += " 'main', 'agent:main:main', 's1', 'r1', 'sha256:00', 'exec')"
        with self.db:
            self.db.executemany(row, [(f"{self.name}{n}", 1_790_000_000_000 + n) for n in range(start, start + count)])


@pytest.fixture
def ledger(tmp_path):
    """Give a ledger with nothing in it."""
    ledger = Ledger(tmp_path / "openclaw.sqlite")
    yield ledger
    ledger.db.close()


def names(records):
    """Return the ids of the ledger's rows among the records."""
    return [record.body["event"]["event_id"] for record in records]


def test_a_row_of_the_ledger_becomes_a_record(ledger):
    """As it says it, without what it does not say, and with whose it is."""
    ledger.add(1)
    (record,) = Follower(AuditSource(ledger.path)).follow()
    assert (record.source, record.stream, record.seq, record.kind) == ("openclaw.audit", "audit", 1, "audit_event")
    assert record.body == {
        "hook": "audit_event",
        "ts": 1_790_000_000_000,
        "ctx": {"agentId": "main", "sessionId": "s1", "sessionKey": "agent:main:main", "runId": "r1"},
        "event": {
            "sequence": 1,
            "event_id": "e0",
            "source_id": "srce0",
            "schema_version": 1,
            "source_sequence": 1,
            "occurred_at": 1_790_000_000_000,
            "kind": "tool_action",
            "action": "tool.action.finished",
            "status": "succeeded",
            "actor_type": "agent",
            "actor_id": "main",
            "agent_id": "main",
            "session_key": "agent:main:main",
            "session_id": "s1",
            "run_id": "r1",
            "tool_call_id": "sha256:00",
            "tool_name": "exec",
        },
    }


def test_the_ledger_is_followed_in_bounded_batches(ledger):
    """Everything once, in order; the end is known."""
    ledger.add(2 * BATCH_ROWS + 5)
    reader = Follower(AuditSource(ledger.path))
    first = reader.read()
    assert (len(first.records), first.more) == (BATCH_ROWS, True)
    assert [f"e{n}" for n in range(2 * BATCH_ROWS + 5)] == names([*first.records, *reader.follow()])
    assert reader.follow() == []
    ledger.add(2, 10_000)
    assert names(reader.follow()) == ["e10000", "e10001"]


def test_a_ledger_that_was_pruned_is_followed_on(ledger):
    """The gateway drops the oldest rows, at times the one that was read last."""
    ledger.add(10)
    reader = Follower(AuditSource(ledger.path))
    reader.follow()
    ledger.db.execute("DELETE FROM audit_events")
    assert reader.follow() == []
    ledger.add(2, 50)
    assert names(reader.follow()) == ["e50", "e51"]


@pytest.mark.parametrize("rows", [3, 30])
def test_another_ledger_is_read_from_its_start(ledger, tmp_path, rows):
    """Whether it has fewer rows or more than the one that was read."""
    ledger.add(10)
    reader = Follower(AuditSource(ledger.path))
    reader.follow()
    ledger.db.close()
    other = Ledger(tmp_path / "other.sqlite", name="o")
    other.add(rows)
    other.db.close()
    other.path.replace(ledger.path)
    assert [f"o{n}" for n in range(rows)] == names(reader.follow())


def test_a_ledger_with_more_columns_is_read(ledger):
    """What a newer OpenClaw adds is taken along."""
    ledger.db.execute("ALTER TABLE audit_events ADD COLUMN brand_new TEXT")
    ledger.add(1)
    ledger.db.execute("UPDATE audit_events SET brand_new = 'x'")
    assert [record.body["event"]["brand_new"] for record in Follower(AuditSource(ledger.path)).follow()] == ["x"]


def test_an_unknown_ledger_is_refused_with_a_plain_sentence(ledger):
    """It names what is missing."""
    ledger.db.execute("ALTER TABLE audit_events RENAME COLUMN occurred_at TO happened_at")
    with pytest.raises(Unavailable, match=r"without audit_events\.occurred_at") as caught:
        AuditSource(ledger.path).read({}, 0)
    assert caught.value.code == "schema_unknown"


def test_nothing_to_read_is_no_fault(ledger):
    """An empty ledger gives an empty batch, and the first row is seen when it comes."""
    reader = Follower(AuditSource(ledger.path))
    assert reader.follow() == []
    assert reader.cursor == {}
    ledger.add(1)
    assert names(reader.follow()) == ["e0"]
