-- name: head
SELECT no, hash FROM record ORDER BY no DESC LIMIT 1
-- name: last_content
SELECT no FROM content ORDER BY no DESC LIMIT 1
-- name: known_records
SELECT id FROM record WHERE id IN (SELECT unhex(value) FROM json_each(:ids))
-- name: add_record
INSERT INTO record (no, id, source, stream, seq, kind, arrived_ms, nonce, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
-- name: add_content
INSERT INTO content (no, codec, bytes) VALUES (?, ?, ?)
-- name: add_body
INSERT INTO body (hash, refs, codec, bytes) VALUES (?, 1, ?, ?) ON CONFLICT (hash) DO UPDATE SET refs = refs + 1
-- name: has_body
SELECT count(*) FROM body WHERE hash = ?
-- name: count_body
UPDATE body SET refs = refs + 1 WHERE hash = ?
-- name: body
SELECT codec, bytes FROM body WHERE hash = ?
-- name: records
SELECT r.no, hex(r.id), source.value, stream.value, r.seq, kind.value, r.arrived_ms, r.nonce, r.leaf, r.hash, c.codec, c.bytes
FROM record r
LEFT JOIN name source ON source.id = r.source LEFT JOIN name stream ON stream.id = r.stream
LEFT JOIN name kind ON kind.id = r.kind LEFT JOIN content c ON c.no = r.no
WHERE r.no IN (SELECT value FROM json_each(:nos)) ORDER BY r.no
-- name: records_after
SELECT r.no, hex(r.id), source.value, stream.value, r.seq, kind.value, r.arrived_ms, r.nonce, r.leaf, r.hash, c.codec, c.bytes
FROM record r
LEFT JOIN name source ON source.id = r.source LEFT JOIN name stream ON stream.id = r.stream
LEFT JOIN name kind ON kind.id = r.kind LEFT JOIN content c ON c.no = r.no
WHERE r.no > :no ORDER BY r.no LIMIT :most
-- name: name_id
SELECT id FROM name WHERE value = ?
-- name: add_name
INSERT INTO name (value) VALUES (?)
-- name: names_of_kind.tool
WITH RECURSIVE used (id) AS (SELECT min(tool) FROM event WHERE tool IS NOT NULL UNION ALL
  SELECT (SELECT min(tool) FROM event WHERE tool > used.id) FROM used WHERE used.id IS NOT NULL)
SELECT value FROM used JOIN name ON name.id = used.id
-- name: names_of_kind.agent
WITH RECURSIVE used (id) AS (SELECT min(agent) FROM event WHERE agent IS NOT NULL UNION ALL
  SELECT (SELECT min(agent) FROM event WHERE agent > used.id) FROM used WHERE used.id IS NOT NULL)
SELECT value FROM used JOIN name ON name.id = used.id
-- name: events_with_keys
SELECT DISTINCT event FROM event_key WHERE key IN (SELECT value FROM json_each(:keys))
-- name: places_of_events
SELECT place, event FROM sighting WHERE event IN (SELECT value FROM json_each(:ids))
-- name: event_of_place
SELECT event FROM sighting WHERE place = ?
-- name: positions
SELECT id, pos FROM event WHERE id IN (SELECT value FROM json_each(:ids))
-- name: ids_at
SELECT pos, id FROM event WHERE pos IN (SELECT value FROM json_each(:positions))
-- name: place_in_ms
SELECT coalesce(
  (SELECT min(pos + :gap, coalesce((pos + (SELECT min(pos) FROM event a WHERE a.pos > e.pos AND a.pos <= :last)) / 2, :last))
    FROM event e WHERE pos BETWEEN :first AND :last AND id < :id ORDER BY pos DESC LIMIT 1),
  (SELECT max(pos - :gap, :first) FROM event WHERE pos BETWEEN :first AND :last AND id > :id ORDER BY pos LIMIT 1))
-- name: is_taken
SELECT count(*) FROM event WHERE pos = ?
-- name: drop_event
DELETE FROM event WHERE id = ?
-- name: drop_key
DELETE FROM event_key WHERE key = ? AND event = ?
-- name: put_event
INSERT INTO event (pos, id, arrived_ms, type, status, agent, session, session_key, run, call, tool, actor, trust, label,
  duration_ms, summary, error, flags, sources, details, tags, open)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- name: put_sighting
INSERT OR REPLACE INTO sighting (place, event) VALUES (?, ?)
-- name: drop_sighting
DELETE FROM sighting WHERE place = ?
-- name: put_key
INSERT OR IGNORE INTO event_key (key, event) VALUES (?, ?)
-- name: mark_stale
INSERT OR IGNORE INTO stale (pos) VALUES (?)
-- name: stale
SELECT pos FROM stale ORDER BY pos DESC LIMIT ?
-- name: count_stale
SELECT count(*) FROM stale
-- name: unmark_stale
DELETE FROM stale WHERE pos = ?
-- name: mark_all_stale
INSERT OR IGNORE INTO stale (pos) SELECT pos FROM event
-- name: clear_events
DELETE FROM event; DELETE FROM sighting; DELETE FROM event_key; DELETE FROM audit; DELETE FROM stale; DELETE FROM rollup
-- name: open_events
SELECT id FROM event WHERE open = 1
-- name: open_events_of_runs
SELECT id FROM event WHERE open = 1 AND run IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:runs)))
-- name: run_has_ended
SELECT count(*) FROM event WHERE run = (SELECT id FROM name WHERE value = :run) AND open = 0
  AND type = (SELECT id FROM name WHERE value = 'run')
-- name: started_after
SELECT count(*) FROM event WHERE pos > :pos AND status = (SELECT id FROM name WHERE value = 'started')
  AND type = (SELECT id FROM name WHERE value = 'gateway')
-- name: notice_after
SELECT count(*) FROM event WHERE pos > :pos AND session = (SELECT id FROM name WHERE value = :session)
  AND flags LIKE '%"restart"%'
-- name: set_status
UPDATE event SET status = ? WHERE id = ?
-- name: cursors
SELECT item, value FROM cursor WHERE source = ?
-- name: put_cursor
INSERT OR REPLACE INTO cursor (source, item, value) VALUES (?, ?, ?)
-- name: remember_item
INSERT OR IGNORE INTO cursor (source, item, value) VALUES (?, ?, 'true')
-- name: drop_cursor
DELETE FROM cursor WHERE source = ? AND item = ?
-- name: tally
INSERT INTO tally (name, n) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET n = n + excluded.n
-- name: tallies
SELECT name, n FROM tally ORDER BY name
-- name: put_stream
INSERT INTO stream (id, source, records, low, high, first_ms, last_ms, ended) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET records = records + excluded.records, low = min(low, excluded.low), high = max(high, excluded.high),
  first_ms = min(first_ms, excluded.first_ms), last_ms = max(last_ms, excluded.last_ms), ended = max(ended, excluded.ended)
-- name: streams
SELECT stream.value, source.value, s.records, s.low, s.high, s.first_ms, s.last_ms, s.ended
FROM stream s JOIN name stream ON stream.id = s.id JOIN name source ON source.id = s.source ORDER BY s.last_ms
-- name: put_watch
INSERT INTO watch (source, since_ms, good_ms) VALUES (:source, :now_ms, :now_ms)
ON CONFLICT (source) DO UPDATE SET good_ms = excluded.good_ms, failed_ms = NULL, why = NULL
-- name: put_watch_failure
INSERT INTO watch (source, since_ms, good_ms, failed_ms, why) VALUES (:source, :now_ms, 0, :now_ms, :why)
ON CONFLICT (source) DO UPDATE SET failed_ms = coalesce(failed_ms, excluded.failed_ms), why = excluded.why
-- name: watches
SELECT source, since_ms, good_ms, failed_ms, why FROM watch ORDER BY source
-- name: last_of_source
SELECT arrived_ms FROM record WHERE no > (SELECT max(no) FROM record) - :among
  AND source = (SELECT id FROM name WHERE value = :source) ORDER BY no DESC LIMIT 1
-- name: last_beat
SELECT r.no, s.first_ms FROM record r JOIN stream s ON s.id = r.stream
WHERE r.no > (SELECT max(no) FROM record) - :among
  AND r.kind IN (SELECT id FROM name WHERE value IN ('limpet_start', 'limpet_beat')) ORDER BY r.no DESC LIMIT 1
-- name: last_words
SELECT s.value, k.value, r.seq, r.arrived_ms FROM record r JOIN name s ON s.id = r.stream JOIN name k ON k.id = r.kind
WHERE r.no > (SELECT max(no) FROM record) - :among
  AND k.value IN ('limpet_start', 'limpet_beat', 'limpet_stop') ORDER BY r.seq
-- name: unseen_by
WITH recent AS (
  SELECT e.pos, e.arrived_ms, e.agent, instr(',' || s.value || ',', ',' || :witness || ',') > 0 AS seen
  FROM event e JOIN name s ON s.id = e.sources
  WHERE e.pos >= :since << 20 AND e.type IN (SELECT id FROM name WHERE value IN ('tool_call', 'message'))
    AND instr(s.value, 'openclaw.') AND NOT coalesce(e.label IN (SELECT id FROM name WHERE value IN ('own', 'internal')), 0)
  ORDER BY e.pos DESC LIMIT :among)
SELECT count(*), min(pos) >> 20 FROM recent r
WHERE NOT seen AND arrived_ms <= :until AND pos > :after << 20 AND pos > (SELECT max(pos) FROM recent b WHERE b.seen AND b.agent IS r.agent) + (2000 << 20)
-- name: seen_by_both
SELECT count(*) FROM (SELECT 1 FROM event e JOIN name s ON s.id = e.sources WHERE e.pos BETWEEN :since << 20 AND :until << 20
  AND instr(s.value, :one) AND instr(s.value, :other) LIMIT 1)
-- name: last_calls
SELECT status.value, e.pos >> 20 FROM event e NOT INDEXED JOIN name status ON status.id = e.status
WHERE e.type = (SELECT id FROM name WHERE value = 'tool_call') AND e.pos >= :since << 20 AND status.value <> 'started'
ORDER BY e.pos DESC LIMIT :among
-- name: cut_log
PRAGMA wal_checkpoint(TRUNCATE)
-- name: meta
SELECT value FROM meta WHERE name = ?
-- name: put_meta
INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)
-- name: put_audit
INSERT OR REPLACE INTO audit (place, at_ms, action, run, session, tool, call, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
-- name: event_columns
SELECT id, at_ms, arrived_ms, event_type, status, agent, session_id, session_key, run, call, tool, actor, trust, label, duration_ms,
  summary, error, flags, sources, details, tags, pos FROM events
-- name: count_events
SELECT count(*) FROM event e
-- name: matching
SELECT e.pos FROM event e
-- name: by_time
 NOT INDEXED
-- name: are_few
SELECT count(*) < :few FROM (SELECT 1 FROM event e:where LIMIT :few)
-- name: outline
SELECT e.pos, e.id, e.type, e.status, e.run, e.session_key, e.duration_ms, e.pos >> 20 FROM event e
-- name: attempts
SELECT e.pos, e.id, e.type, e.status, e.tool, e.session, e.session_key, e.summary FROM event e
-- name: values_of_names
SELECT id, value FROM name WHERE id IN (SELECT value FROM json_each(:ids))
-- name: news
SELECT e.pos FROM event e LEFT JOIN name label ON label.id = e.label
WHERE e.id IN (SELECT id FROM event WHERE id >= :first UNION SELECT event FROM sighting WHERE place >= :first)
  AND coalesce(label.value, '') NOT IN ('own', 'internal')
ORDER BY e.pos DESC LIMIT :most
-- name: of_positions
 WHERE pos IN (SELECT value FROM json_each(:positions))
-- name: where.since
likelihood(e.pos >= :since << 20, 0.01)
-- name: where.until
likelihood(e.pos < :until << 20, 0.01)
-- name: where.type
e.type IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:type)))
-- name: where.status
e.status IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:status)))
-- name: where.tool
e.tool IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:tool)))
-- name: where.agent
(e.agent IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:agent)))
  OR (e.agent IS NULL AND 'unknown' IN (SELECT value FROM json_each(:agent))))
-- name: where.session
(e.session IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:session)))
  OR e.session_key IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:session))))
-- name: where.run
e.run IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:run)))
-- name: where.call
e.call IN (SELECT value FROM json_each(:call))
-- name: where.actor
e.actor IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:actor)))
-- name: where.trust
e.trust IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:trust)))
-- name: where.label
coalesce(e.label, 0) IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:label)))
-- name: where.source
EXISTS (SELECT 1 FROM name JOIN json_each(:source) wanted ON instr(',' || name.value || ',', ',' || wanted.value || ',')
  WHERE name.id = e.sources)
-- name: where.is_error
(e.status IN (SELECT id FROM name WHERE value IN ('failed', 'timed_out')) OR e.type = (SELECT id FROM name WHERE value = 'error'))
-- name: where.is_deed
(coalesce(e.type, 0) NOT IN (SELECT id FROM name WHERE value IN ('gap', 'gateway', 'reset', 'session'))
  AND NOT (coalesce(e.type = (SELECT id FROM name WHERE value = 'message'), 0)
    AND coalesce(e.actor = (SELECT id FROM name WHERE value = 'user'), 0)))
-- name: where.positions
e.pos IN (SELECT value FROM json_each(:positions))
-- name: where.outside
e.pos NOT IN (SELECT value FROM json_each(:outside))
-- name: pairs
SELECT DISTINCT (e.pos >> 20) / 900000 * 900000, (SELECT value FROM name WHERE id = :by_column),
  (SELECT value FROM name WHERE id = :count_column) FROM event e
-- name: column.none
NULL
-- name: column.type
e.type
-- name: column.status
e.status
-- name: column.tool
e.tool
-- name: column.agent
e.agent
-- name: column.session
e.session
-- name: column.run
e.run
-- name: column.trust
e.trust
-- name: column.source
e.sources
-- name: column.label
e.label
-- name: column.actor
e.actor
-- name: column.call
e.call
-- name: counts
SELECT :by_column, count(*) FROM event e
-- name: rollup
SELECT :by_column, sum(e.n) FROM (
  SELECT type, nullif(status, 0) AS status, nullif(tool, 0) AS tool, nullif(agent, 0) AS agent, nullif(label, 0) AS label, n
  FROM rollup WHERE day >= :first_day AND day < :end_day) e
-- name: laid_out
SELECT type, name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'script_%'
-- name: rollup_before
CREATE TEMP VIEW rollup AS
SELECT (pos >> 20) / 86400000 AS day, type, coalesce(status, 0) AS status, coalesce(tool, 0) AS tool, coalesce(agent, 0) AS agent,
  coalesce(label, 0) AS label, count(*) AS n FROM main.event GROUP BY 1, 2, 3, 4, 5, 6
-- name: miscounted_days
WITH found AS (
  SELECT (pos >> 20) / 86400000 AS day, type, coalesce(status, 0), coalesce(tool, 0), coalesce(agent, 0), coalesce(label, 0), count(*)
  FROM event GROUP BY 1, 2, 3, 4, 5, 6)
SELECT day FROM (SELECT * FROM found EXCEPT SELECT day, type, status, tool, agent, label, n FROM rollup)
UNION SELECT day FROM (SELECT day, type, status, tool, agent, label, n FROM rollup EXCEPT SELECT * FROM found) ORDER BY 1
-- name: order.newest
 ORDER BY e.pos DESC
-- name: order.oldest
 ORDER BY e.pos ASC
-- name: order.slowest
 ORDER BY e.duration_ms DESC, e.pos DESC
-- name: order.fastest
 ORDER BY e.duration_ms IS NULL, e.duration_ms ASC, e.pos DESC
-- name: page
 LIMIT :limit OFFSET :offset
-- name: grouped
 GROUP BY 1
-- name: counts.hour_ms
SELECT (e.pos >> 20) / 900000 * 900000, count(*) FROM event e
-- name: touched
SELECT DISTINCT (e.pos >> 20) / 900000 * 900000, coalesce(a.value, '') FROM event e
LEFT JOIN name a ON a.id = e.agent LEFT JOIN name l ON l.id = e.label
WHERE (e.id >= :first OR e.id IN (SELECT event FROM sighting WHERE place >= :first))
  AND coalesce(l.value, '') NOT IN ('own', 'internal')
-- name: other_session_of_key
SELECT min(e.pos) >> 20, s.value FROM event e JOIN name s ON s.id = e.session
WHERE e.session_key = (SELECT id FROM name WHERE value = :key) AND e.session != (SELECT id FROM name WHERE value = :session)
  AND e.pos > :pos
-- name: children
SELECT json_extract(details, '$.child'), json_extract(details, '$.child_session'), call FROM event
WHERE type = (SELECT id FROM name WHERE value = 'subagent')
  AND (session = (SELECT id FROM name WHERE value = :session) OR session_key = (SELECT id FROM name WHERE value = :key))
-- name: bounds
SELECT (SELECT min(pos) FROM event) >> 20, (SELECT max(pos) FROM event) >> 20, coalesce((SELECT sum(n) FROM rollup), 0)
-- name: first_event
SELECT min(pos) >> 20 FROM event
-- name: newest_record
SELECT arrived_ms FROM record ORDER BY no DESC LIMIT 1
-- name: names_since.agent
SELECT DISTINCT value FROM event JOIN name ON name.id = event.agent WHERE event.id >= :first
-- name: last_record
SELECT (SELECT arrived_ms FROM record ORDER BY no DESC LIMIT 1),
  coalesce((SELECT max(no) FROM record) - (SELECT min(no) FROM record) + 1, 0), (SELECT max(no) FROM record)
-- name: audited_calls
SELECT call FROM audit WHERE action = 'tool.action.started' AND call IS NOT NULL AND at_ms >= :since AND at_ms < :until
-- name: audited_runs
SELECT DISTINCT run.value FROM audit JOIN name run ON run.id = audit.run
WHERE action = 'agent.run.started' AND at_ms >= :since AND at_ms < :until
-- name: called
SELECT call FROM event WHERE call IS NOT NULL AND type = (SELECT id FROM name WHERE value = 'tool_call') AND pos >= :since AND pos < :until
-- name: ran
SELECT DISTINCT run.value FROM event JOIN name run ON run.id = event.run
WHERE type = (SELECT id FROM name WHERE value = 'run') AND pos >= :since AND pos < :until
-- name: has_script_table
SELECT count(*) FROM sqlite_schema WHERE name = 'script_events' AND type = 'table'
-- name: script_rows
SELECT rowid, id, timestamp, session_id, event_type, summary, details, tags FROM script_events WHERE rowid > :after ORDER BY rowid LIMIT :most
-- name: script_rows_as_bytes
SELECT rowid, CAST(id AS BLOB), CAST(timestamp AS BLOB), CAST(session_id AS BLOB), CAST(event_type AS BLOB),
  CAST(summary AS BLOB), CAST(details AS BLOB), CAST(tags AS BLOB)
FROM script_events WHERE rowid > :after ORDER BY rowid LIMIT :most
-- name: drop_script_table
DROP TABLE script_events
-- name: bodies
SELECT hash, refs, codec, bytes FROM body
-- name: forget_record
UPDATE record SET nonce = NULL, leaf = ? WHERE no = ?
-- name: clean_record
UPDATE record SET source = ?, stream = ?, kind = ?, nonce = ?, leaf = ? WHERE no = ?
-- name: drop_content
DELETE FROM content WHERE no = ?
-- name: release_body
UPDATE body SET refs = refs - 1 WHERE hash = ?
-- name: drop_body
DELETE FROM body WHERE hash = ? AND refs <= 0
-- name: drop_audit
DELETE FROM audit WHERE place = ?
-- name: cut_records
DELETE FROM record WHERE no <= ?
-- name: first_kept
SELECT c.no FROM content c JOIN record r ON r.no = c.no LEFT JOIN name k ON k.id = r.kind
WHERE NOT (k.value IN (SELECT value FROM json_each(:kinds)) AND r.arrived_ms < :before) ORDER BY c.no LIMIT 1
-- name: kept_through
SELECT no FROM content WHERE no <= ?
-- name: records_of_kind
SELECT no FROM record WHERE kind = (SELECT id FROM name WHERE value = ?)
-- name: sweep_names
DELETE FROM name WHERE id NOT IN (
  SELECT source FROM record UNION SELECT stream FROM record UNION SELECT kind FROM record
  UNION SELECT id FROM stream UNION SELECT source FROM stream
  UNION SELECT type FROM event UNION SELECT coalesce(status, 0) FROM event UNION SELECT coalesce(agent, 0) FROM event
  UNION SELECT coalesce(session, 0) FROM event UNION SELECT coalesce(session_key, 0) FROM event
  UNION SELECT coalesce(run, 0) FROM event UNION SELECT coalesce(tool, 0) FROM event UNION SELECT coalesce(actor, 0) FROM event
  UNION SELECT coalesce(trust, 0) FROM event UNION SELECT coalesce(label, 0) FROM event UNION SELECT sources FROM event
  UNION SELECT coalesce(run, 0) FROM audit UNION SELECT coalesce(session, 0) FROM audit UNION SELECT coalesce(tool, 0) FROM audit)
-- name: put_tombstone
INSERT OR IGNORE INTO tombstone (key, from_ms, until_ms) VALUES (?, ?, ?)
-- name: count_tombstones
SELECT count(*) FROM tombstone
-- name: clear_tombstones
DELETE FROM tombstone
-- name: tombstones_of_keys
SELECT key, from_ms, until_ms FROM tombstone WHERE key IN (SELECT value FROM json_each(:keys))
-- name: tombstones
SELECT key, from_ms, until_ms FROM tombstone ORDER BY key
-- name: tombstones_backwards
SELECT key, from_ms, until_ms FROM tombstone ORDER BY key DESC, from_ms DESC, until_ms DESC
-- name: put_seal
INSERT OR REPLACE INTO seal (no, hash, at_ms, what, place) VALUES (?, ?, ?, ?, ?)
-- name: seals
SELECT no, hash, at_ms, what, place FROM seal ORDER BY no
-- name: stale_positions
SELECT pos FROM stale
-- name: told_events
SELECT e.id, e.pos >> 20, e.arrived_ms, type.value, status.value, agent.value, session.value, session_key.value, run.value,
  e.call, tool.value, actor.value, trust.value, label.value, e.duration_ms, e.summary, e.error, e.flags, sources.value, e.details,
  e.tags, e.open
FROM event e
LEFT JOIN name type ON type.id = e.type LEFT JOIN name status ON status.id = e.status LEFT JOIN name agent ON agent.id = e.agent
LEFT JOIN name session ON session.id = e.session LEFT JOIN name session_key ON session_key.id = e.session_key
LEFT JOIN name run ON run.id = e.run LEFT JOIN name tool ON tool.id = e.tool LEFT JOIN name actor ON actor.id = e.actor
LEFT JOIN name trust ON trust.id = e.trust LEFT JOIN name label ON label.id = e.label LEFT JOIN name sources ON sources.id = e.sources
ORDER BY e.id
-- name: told_sightings
SELECT place, event FROM sighting ORDER BY place
-- name: told_keys
SELECT key, event FROM event_key ORDER BY key, event
-- name: told_audit
SELECT a.place, a.at_ms, a.action, run.value, session.value, tool.value, a.call, a.status FROM audit a
LEFT JOIN name run ON run.id = a.run LEFT JOIN name session ON session.id = a.session LEFT JOIN name tool ON tool.id = a.tool
ORDER BY a.place
-- name: audit_bounds
SELECT min(at_ms), max(at_ms) FROM audit
-- name: hash_at
SELECT hash FROM record WHERE no = ?
-- name: events_of_record
SELECT event FROM sighting WHERE place BETWEEN :first AND :last UNION SELECT id FROM event WHERE id BETWEEN :first AND :last
-- name: drop_sightings
DELETE FROM sighting WHERE place BETWEEN ? AND ?
-- name: forgotten_ids
SELECT id FROM record WHERE id IN (SELECT unhex(value) FROM json_each(:ids)) AND no NOT IN (SELECT no FROM content)
-- name: audit_of_calls
SELECT place FROM audit WHERE call IN (SELECT value FROM json_each(:calls)) AND at_ms BETWEEN :since AND :until
-- name: audit_of_runs
SELECT place FROM audit WHERE run IN (SELECT id FROM name WHERE value IN (SELECT value FROM json_each(:runs)))
  AND action LIKE 'agent.run%'
-- name: copy_to
VACUUM INTO ?
-- name: fleet
SELECT id, machine, sent, head FROM fleet
-- name: leave_fleet
DELETE FROM fleet
-- name: join_fleet
INSERT INTO fleet (id, machine, sent, head) VALUES (?, ?, ?, 0)
-- name: mark_nothing
DELETE FROM outbox WHERE kind <> 'body'
-- name: mark_bodies
INSERT OR REPLACE INTO outbox (kind, key) SELECT kind, key FROM outbox WHERE kind = 'body'
-- name: mark_events
INSERT INTO outbox (kind, key) SELECT 'event', id FROM event ORDER BY pos
-- name: mark_streams
INSERT INTO outbox (kind, key) SELECT 'stream', id FROM stream
-- name: mark_contents
INSERT INTO outbox (kind, key)
SELECT 'content', r.no FROM record r LEFT JOIN content c ON c.no = r.no WHERE c.no IS NULL OR r.leaf IS NOT NULL ORDER BY r.no
-- name: outbox
SELECT no, kind, key FROM outbox WHERE no > ? ORDER BY no LIMIT ?
-- name: outbox_done
DELETE FROM outbox WHERE no <= ?
-- name: outbox_from
INSERT INTO outbox (no, kind, key) SELECT ?, 'event', 0 WHERE ? > (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'outbox')
-- name: fleet_has
UPDATE fleet SET sent = ?, head = ?
-- name: last_change
SELECT max(seq) FROM sqlite_sequence WHERE name = 'outbox'
-- name: count_outbox
SELECT count(*) FROM outbox
-- name: first_record
SELECT min(no) FROM record
-- name: told_events_by_id
SELECT v.id, v.pos, v.arrived_ms, v.event_type, v.status, agent.value, v.session_id, v.session_key, v.run, v.call, v.tool, v.actor,
  trust.value, v.label, v.duration_ms, v.summary, v.error, v.flags, v.sources, v.details, v.tags
FROM events v JOIN event e ON e.pos = v.pos LEFT JOIN name agent ON agent.id = e.agent LEFT JOIN name trust ON trust.id = e.trust
WHERE e.id IN (SELECT value FROM json_each(:ids))
-- name: events_of_records
SELECT e.id FROM json_each(:nos) n JOIN event e ON e.id BETWEEN n.value << 12 AND ((n.value + 1) << 12) - 1
-- name: streams_by_id
SELECT stream.value, source.value, s.records, s.low, s.high, s.first_ms, s.last_ms, s.ended
FROM stream s JOIN name stream ON stream.id = s.id JOIN name source ON source.id = s.source WHERE s.id IN (SELECT value FROM json_each(:ids))
-- name: rename_stream
UPDATE OR REPLACE stream SET id = ? WHERE id = ?
-- name: older_records
WITH kept AS (
  SELECT id FROM event WHERE (pos >> 20) + coalesce(duration_ms, 0) >= :before UNION SELECT value FROM json_each(:kept)),
held AS (SELECT id >> 12 AS no FROM kept UNION SELECT place >> 12 FROM sighting WHERE event IN (SELECT id FROM kept)),
told AS (SELECT id >> 12 AS no FROM event UNION SELECT place >> 12 FROM sighting)
SELECT c.no FROM content c JOIN record r ON r.no = c.no LEFT JOIN name k ON k.id = r.kind
WHERE c.no NOT IN (SELECT no FROM held) AND (r.arrived_ms < :before OR c.no IN (SELECT no FROM told))
  AND k.value NOT IN (SELECT value FROM json_each(:kinds))
ORDER BY c.no
