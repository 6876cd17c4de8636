-- What was forgotten, sealed, cut off: so that the ledger can be held against copies, and nothing comes back.

-- What was forgotten must not come back by another witness: the join keys (as in event_key) and when it happened.
CREATE TABLE tombstone (
  key INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (key, from_ms, until_ms)
) STRICT, WITHOUT ROWID;

-- Signed-off pairs of ledger position and hash: what was handed to a copy (`backup`, `export`), and where the ledger begins
-- since its old part was dropped (`pruned`). `place` is the copy's path.
CREATE TABLE seal (
  no INTEGER NOT NULL,
  hash BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  what TEXT NOT NULL,
  place TEXT NOT NULL,
  PRIMARY KEY (what, place)
) STRICT, WITHOUT ROWID;
