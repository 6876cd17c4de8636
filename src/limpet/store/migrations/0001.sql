-- The first schema. Integer-coded names, epoch milliseconds UTC, bodies apart as zstd.
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Every agent, session, run, tool, type, source ... once.
CREATE TABLE name (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE) STRICT;

-- The ledger: what a source said, once; append-only, hash-chained. `leaf` is kept only of what was forgotten.
CREATE TABLE record (
  no INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  source INTEGER NOT NULL REFERENCES name,
  stream INTEGER NOT NULL REFERENCES name,
  seq INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES name,
  arrived_ms INTEGER NOT NULL,
  nonce BLOB,
  leaf BLOB,
  hash BLOB NOT NULL
) STRICT;

-- The redacted bytes of a record; codec 0 as they are, 1 zstd, 2 zstd with the dictionary `limpet/store/shapes.txt`.
CREATE TABLE content (
  no INTEGER PRIMARY KEY REFERENCES record,
  codec INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- Large texts, stored once by content hash and counted.
CREATE TABLE body (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  refs INTEGER NOT NULL,
  codec INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

-- What happened. `pos` is the time and, in its low 20 bits, a tie-break in order of arrival: newest first is pos descending.
CREATE TABLE event (
  pos INTEGER PRIMARY KEY,
  id INTEGER NOT NULL UNIQUE,
  arrived_ms INTEGER NOT NULL,
  type INTEGER NOT NULL REFERENCES name,
  status INTEGER REFERENCES name,
  agent INTEGER REFERENCES name,
  session INTEGER REFERENCES name,
  session_key INTEGER REFERENCES name,
  run INTEGER REFERENCES name,
  call TEXT,
  tool INTEGER REFERENCES name,
  actor INTEGER REFERENCES name,
  trust INTEGER REFERENCES name,
  label INTEGER REFERENCES name,
  duration_ms INTEGER,
  summary TEXT NOT NULL,
  error TEXT,
  flags TEXT,
  sources INTEGER NOT NULL REFERENCES name,
  details TEXT,
  tags TEXT,
  open INTEGER NOT NULL
) STRICT;
CREATE INDEX event_session ON event (session) WHERE session IS NOT NULL;
CREATE INDEX event_type ON event (type, status);
CREATE INDEX event_tool ON event (tool) WHERE tool IS NOT NULL;
CREATE INDEX event_open ON event (run) WHERE open = 1;

-- Which event each part of a record was merged into; a part that is its event's first stands for itself.
CREATE TABLE sighting (place INTEGER PRIMARY KEY, event INTEGER NOT NULL) STRICT;
CREATE INDEX sighting_event ON sighting (event);

-- The join keys of events, as 64-bit hashes.
CREATE TABLE event_key (key INTEGER NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (key, event)) STRICT, WITHOUT ROWID;

-- Positions whose text the index has not taken in yet.
CREATE TABLE stale (pos INTEGER PRIMARY KEY) STRICT;

-- How far each source was read; committed together with the records.
CREATE TABLE cursor (source TEXT NOT NULL, item TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (source, item)) STRICT, WITHOUT ROWID;

-- What each stream gave: missing numbers and silence show here.
CREATE TABLE stream (
  id INTEGER PRIMARY KEY REFERENCES name,
  source INTEGER NOT NULL REFERENCES name,
  records INTEGER NOT NULL,
  low INTEGER NOT NULL,
  high INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  ended INTEGER NOT NULL
) STRICT;

-- How each source stands: since when it is watched, when it was last read well, and what is wrong if anything is.
CREATE TABLE watch (
  source TEXT PRIMARY KEY,
  since_ms INTEGER NOT NULL,
  good_ms INTEGER NOT NULL,
  failed_ms INTEGER,
  why TEXT
) STRICT, WITHOUT ROWID;

-- Plain counts: duplicates, rejects, unknown kinds, secrets removed by kind.
CREATE TABLE tally (name TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- What OpenClaw's audit ledger counted: the third witness. `call` is the SHA-256 it keeps of a tool-call id.
CREATE TABLE audit (
  place INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  action TEXT NOT NULL,
  run INTEGER REFERENCES name,
  session INTEGER REFERENCES name,
  tool INTEGER REFERENCES name,
  call TEXT,
  status TEXT
) STRICT;
CREATE INDEX audit_call ON audit (call);

-- The seven columns of the well-known script first, then ours. Times are ISO-8601 UTC.
CREATE VIEW events AS
SELECT
  e.id AS id,
  strftime('%Y-%m-%dT%H:%M:', (e.pos >> 20) / 1000, 'unixepoch')
    || printf('%02d.%03dZ', ((e.pos >> 20) / 1000) % 60, (e.pos >> 20) % 1000) AS timestamp,
  session.value AS session_id,
  type.value AS event_type,
  e.summary AS summary,
  coalesce(e.details, CASE
    WHEN type.value = 'tool_call' AND e.duration_ms IS NULL AND e.error IS NULL
      THEN json_object('tool', tool.value, 'success', json(iif(status.value = 'succeeded', 'true', 'false')), 'status', status.value)
    WHEN type.value = 'tool_call'
      THEN json_object('tool', tool.value, 'success', json(iif(status.value = 'succeeded', 'true', 'false')), 'status', status.value,
                       'duration_ms', e.duration_ms, 'error', e.error)
    WHEN e.error IS NOT NULL THEN json_object('status', status.value, 'duration_ms', e.duration_ms, 'error', e.error)
    ELSE json_object('status', status.value, 'duration_ms', e.duration_ms) END) AS details,
  coalesce(e.tags, CASE
    WHEN type.value = 'tool_call' THEN json_array('tool', tool.value)
    WHEN status.value IN ('failed', 'timed_out') THEN json_array(type.value, 'failed')
    ELSE json_array(type.value) END) AS tags,
  status.value AS status,
  tool.value AS tool,
  coalesce(agent.value, 'unknown') AS agent,
  session_key.value AS session_key,
  run.value AS run,
  e.call AS call,
  actor.value AS actor,
  coalesce(trust.value, 'unknown') AS trust,
  label.value AS label,
  e.duration_ms AS duration_ms,
  e.error AS error,
  e.flags AS flags,
  sources.value AS sources,
  e.pos >> 20 AS at_ms,
  e.arrived_ms AS arrived_ms,
  e.pos AS pos
FROM event e
JOIN name type ON type.id = e.type
JOIN name sources ON sources.id = e.sources
LEFT JOIN name status ON status.id = e.status
LEFT JOIN name agent ON agent.id = e.agent
LEFT JOIN name session ON session.id = e.session
LEFT JOIN name session_key ON session_key.id = e.session_key
LEFT JOIN name run ON run.id = e.run
LEFT JOIN name tool ON tool.id = e.tool
LEFT JOIN name actor ON actor.id = e.actor
LEFT JOIN name trust ON trust.id = e.trust
LEFT JOIN name label ON label.id = e.label;
