-- What a push says to a fleet's PostgreSQL.
-- name: lock_preparing
SELECT pg_advisory_xact_lock(hashtext('limpet.prepare'))
-- name: has_fleet
SELECT to_regclass('limpet.fleet') IS NOT NULL
-- name: version
SELECT version FROM limpet.fleet
-- name: set_version
UPDATE limpet.fleet SET version = %s
-- name: hello
SELECT machine, records, head, sent, now_ms, fleet FROM limpet.hello(%s)
-- name: make_months
SELECT limpet.make_months(%s::bigint[])
-- name: copy_record
COPY limpet.stage_record (batch, no, id, source, stream, seq, kind, arrived_ms, nonce, leaf, hash, codec, bytes) FROM STDIN
-- name: copy_body
COPY limpet.stage_body (batch, hash, codec, bytes) FROM STDIN
-- name: copy_event
COPY limpet.stage_event (batch, id, pos, arrived_ms, type, status, agent, session, session_key, run, call, tool, actor, trust, label,
  duration_ms, summary, error, flags, sources, details, tags, child, child_session, keys, terms, words, places) FROM STDIN
-- name: copy_stream
COPY limpet.stage_stream (batch, name, source, records, low, high, first_ms, last_ms, ended) FROM STDIN
-- name: copy_amended
COPY limpet.stage_amended (batch, no, source, stream, kind, nonce, codec, bytes) FROM STDIN
-- name: take
SELECT limpet.take(%s, %s, %s, %s, %s, %s, %s::bytea[], %s)
