-- The reading queries of `sqlite.sql`, for a fleet; same names, same parameters. Beside these, each knows `:machines` (whose rows)
-- and `:stride` (0, or by how much one machine's numbers are set apart from the next one's). `= ANY (:x)` takes a JSON list.
-- name: head
SELECT records + machine * (:stride >> 12), head FROM limpet.machine WHERE machine = ANY (:machines) ORDER BY machine DESC LIMIT 1
-- name: body
SELECT codec, bytes FROM limpet.body WHERE machine = ANY (:machines) AND hash = ? LIMIT 1
-- name: bodies
SELECT hash, codec, bytes FROM limpet.body WHERE machine = ANY (:machines)
-- name: records
SELECT r.no + r.machine * (:stride >> 12), encode(r.id, 'hex'), r.source, r.stream, r.seq, r.kind, r.arrived_ms, r.nonce, r.leaf, r.hash,
  r.codec, r.bytes
FROM limpet.record r
WHERE r.machine = ANY (:machines) AND r.no + r.machine * (:stride >> 12) = ANY (:nos)
  AND r.no IN (SELECT n - m * (:stride >> 12) FROM unnest(:nos::bigint[]) n, unnest(:machines::int[]) m)
ORDER BY r.machine, r.no
-- name: records_after
SELECT r.no + r.machine * (:stride >> 12), encode(r.id, 'hex'), r.source, r.stream, r.seq, r.kind, r.arrived_ms, r.nonce, r.leaf, r.hash,
  r.codec, r.bytes
FROM limpet.record r WHERE r.machine = ANY (:machines) AND r.no + r.machine * (:stride >> 12) > :no
  AND (r.no > :no OR :stride > 0)
ORDER BY r.machine, r.no LIMIT :most
-- name: names_of_kind.tool
SELECT DISTINCT tool FROM limpet.event WHERE machine = ANY (:machines) AND tool IS NOT NULL
-- name: names_of_kind.agent
SELECT DISTINCT agent FROM limpet.event WHERE machine = ANY (:machines) AND agent <> ''
-- name: events_with_keys
SELECT e.id + e.machine * :stride FROM limpet.event e
WHERE e.machine = ANY (:machines) AND e.keys && ARRAY(SELECT unnest(:keys::bigint[]))
  AND (e.machine, e.id) IN (SELECT h.machine, h.id FROM unnest(:keys::bigint[]) k, limpet.holding(ARRAY[k], :machines::int[], -(1::bigint << 62), 1::bigint << 62) h)
-- name: places_of_events
SELECT place + machine * :stride, event + machine * :stride FROM limpet.sighting
WHERE machine = ANY (:machines) AND event IN (SELECT n - m * :stride FROM unnest(:ids::bigint[]) n, unnest(:machines::int[]) m)
  AND event + machine * :stride = ANY (:ids)
-- name: event_of_place
SELECT event + machine * :stride FROM limpet.sighting s, (SELECT ?::bigint AS wanted) w
WHERE machine = ANY (:machines) AND place + machine * :stride = w.wanted
  AND place IN (SELECT w.wanted - m * :stride FROM unnest(:machines::int[]) m)
-- name: positions
SELECT id + machine * :stride, id + machine * :stride FROM limpet.event
WHERE machine = ANY (:machines) AND id IN (SELECT n - m * :stride FROM unnest(:ids::bigint[]) n, unnest(:machines::int[]) m)
  AND id + machine * :stride = ANY (:ids)
-- name: tallies
SELECT c.key, sum(c.value::bigint)::bigint FROM limpet.machine m, json_each_text(m.said::json -> 'counts') c
WHERE m.machine = ANY (:machines) GROUP BY c.key ORDER BY c.key COLLATE "C"
-- name: streams
SELECT name, source, records, low, high, first_ms, last_ms, ended FROM limpet.stream WHERE machine = ANY (:machines) ORDER BY last_ms
-- name: watches
SELECT w ->> 0, (w ->> 1)::bigint, (w ->> 2)::bigint, (w ->> 3)::bigint, w ->> 4
FROM limpet.machine m, json_array_elements(m.said::json -> 'watches') w
WHERE m.machine = ANY (:machines) ORDER BY (w ->> 0) COLLATE "C"
-- name: meta
SELECT records || ' ' || encode(head, 'hex') FROM limpet.machine WHERE machine = ANY (:machines) AND 'head' = ? AND records > 0 LIMIT 1
-- name: event_columns
SELECT e.id + e.machine * :stride, e.pos >> 20, e.arrived_ms, e.type, e.status, coalesce(nullif(e.agent, ''), 'unknown'), e.session,
  e.session_key, e.run, e.call, e.tool, e.actor, e.trust, e.label, e.duration_ms, e.summary, e.error, e.flags, e.sources, e.details, e.tags,
  e.id + e.machine * :stride FROM limpet.event e
-- name: count_events
SELECT count(*) FROM limpet.event e
-- name: matching
SELECT e.id + e.machine * :stride FROM limpet.event e
-- name: of_positions
 WHERE e.machine = ANY (:machines) AND e.id + e.machine * :stride = ANY (:positions)
  AND e.id IN (SELECT n - m * :stride FROM unnest(:positions::bigint[]) n, unnest(:machines::int[]) m)
-- name: where.since
e.pos >= :since::bigint << 20
-- name: where.until
e.pos < :until::bigint << 20
-- name: where.type
e.type = ANY (:type)
-- name: where.status
e.status = ANY (:status)
-- name: where.tool
e.tool = ANY (:tool)
-- name: where.agent
coalesce(nullif(e.agent, ''), 'unknown') = ANY (:agent)
-- name: where.session
(e.session = ANY (:session) OR e.session_key = ANY (:session))
-- name: where.run
e.run = ANY (:run)
-- name: where.call
e.call = ANY (:call)
-- name: where.actor
e.actor = ANY (:actor)
-- name: where.trust
e.trust = ANY (:trust)
-- name: where.label
coalesce(e.label, '') = ANY (:label)
-- name: where.source
EXISTS (SELECT 1 FROM unnest(:source::text[]) wanted WHERE strpos(',' || e.sources || ',', ',' || wanted || ',') > 0)
-- name: where.is_error
(e.status IN ('failed', 'timed_out') OR e.type = 'error')
-- name: where.always
e.machine = ANY (:machines)
-- name: where.is_deed
(e.type NOT IN ('gap', 'gateway', 'reset', 'session') AND NOT (e.type = 'message' AND coalesce(e.actor, '') = 'user'))
-- name: where.positions
(e.id + e.machine * :stride = ANY (:positions)
  AND e.id IN (SELECT n - m * :stride FROM unnest(:positions::bigint[]) n, unnest(:machines::int[]) m))
-- name: where.outside
NOT (e.id + e.machine * :stride = ANY (:outside))
-- name: where.nothing
false
-- name: where.words
(e.machine, e.id) IN (SELECT h.machine, h.id FROM limpet.holding(:terms::bigint[], :machines::int[], :first, :last) h)
-- name: where.phrase
strpos(e.words, :phrase) > 0
-- name: pairs
SELECT DISTINCT (e.pos >> 20) / 900000 * 900000, :by_column, :count_column FROM limpet.event e
-- name: column.none
NULL::text
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
SELECT :by_column, count(*) FROM limpet.event e
-- name: order.newest
 ORDER BY e.pos DESC, e.machine, e.id
-- name: order.oldest
 ORDER BY e.pos ASC, e.machine, e.id
-- name: order.slowest
 ORDER BY e.duration_ms DESC NULLS LAST, e.pos DESC, e.machine, e.id
-- name: order.fastest
 ORDER BY e.duration_ms IS NULL, e.duration_ms ASC, e.pos DESC, e.machine, e.id
-- name: page
 LIMIT :limit OFFSET :offset
-- name: grouped
 GROUP BY 1
-- name: counts.hour_ms
SELECT (e.pos >> 20) / 900000 * 900000, count(*) FROM limpet.event e
-- name: touched
SELECT DISTINCT (e.pos >> 20) / 900000 * 900000, e.agent FROM limpet.event e
WHERE e.machine = ANY (:machines) AND coalesce(e.label, '') NOT IN ('own', 'internal') AND (e.id + e.machine * :stride >= :first
  OR EXISTS (SELECT 1 FROM limpet.sighting s WHERE s.machine = e.machine AND s.event = e.id AND s.place + s.machine * :stride >= :first))
-- name: other_session_of_key
SELECT e.pos >> 20, e.session FROM limpet.event e
WHERE e.machine = ANY (:machines) AND e.session_key = :key AND e.session <> :session AND e.pos > :pos ORDER BY e.pos LIMIT 1
-- name: children
SELECT e.child, e.child_session, e.call FROM limpet.event e
WHERE e.machine = ANY (:machines) AND e.type = 'subagent' AND (e.session = :session OR e.session_key = :key)
-- name: bounds
SELECT min(e.pos) >> 20, max(e.pos) >> 20, count(*) FROM limpet.event e WHERE e.machine = ANY (:machines)
-- name: last_record
SELECT max(arrived_ms), count(*), max(no) FROM limpet.record WHERE machine = ANY (:machines)
-- name: by_time

-- name: are_few
SELECT count(*) < :few FROM (SELECT 1 FROM limpet.event e:where LIMIT :few) found
-- name: outline
SELECT e.id + e.machine * :stride, e.id + e.machine * :stride, e.type, e.status, e.run, e.session_key, e.duration_ms, e.pos >> 20
FROM limpet.event e
-- name: attempts
SELECT e.id + e.machine * :stride, e.id + e.machine * :stride, e.type, e.status, e.tool, e.session, e.session_key, e.summary
FROM limpet.event e
-- name: values_of_names
SELECT v, v FROM unnest(:ids::text[]) v
-- name: names_since.agent
SELECT DISTINCT agent FROM limpet.event WHERE machine = ANY (:machines) AND agent <> '' AND id + machine * :stride >= :first
-- name: first_event
SELECT min(pos) >> 20 FROM limpet.event WHERE machine = ANY (:machines)
-- name: newest_record
SELECT max(r.arrived_ms) FROM limpet.record r JOIN limpet.machine m ON m.machine = r.machine AND m.records = r.no
WHERE r.machine = ANY (:machines)
-- name: news
SELECT e.id + e.machine * :stride FROM limpet.event e
WHERE e.machine = ANY (:machines) AND coalesce(e.label, '') NOT IN ('own', 'internal') AND (e.id + e.machine * :stride >= :first
  OR EXISTS (SELECT 1 FROM limpet.sighting s WHERE s.machine = e.machine AND s.event = e.id AND s.place + s.machine * :stride >= :first))
ORDER BY e.pos DESC, e.machine, e.id LIMIT :most
-- name: hash_at
SELECT hash FROM limpet.record WHERE machine = ANY (:machines) AND no + machine * (:stride >> 12) = ?
-- name: machines
SELECT machine, name, records, head, pushed_ms, said FROM limpet.machine ORDER BY machine
-- name: last_of_source
SELECT arrived_ms FROM limpet.record r JOIN limpet.machine m ON m.machine = r.machine
WHERE r.machine = ANY (:machines) AND r.no > m.records - :among AND r.source = :source ORDER BY r.no DESC LIMIT 1
-- name: last_words
SELECT r.stream, r.kind, r.seq, r.arrived_ms FROM limpet.record r JOIN limpet.machine m ON m.machine = r.machine
WHERE r.machine = ANY (:machines) AND r.no > m.records - :among
  AND r.kind IN ('limpet_start', 'limpet_beat', 'limpet_stop') ORDER BY r.seq
-- name: last_beat
SELECT r.no + r.machine * (:stride >> 12), s.first_ms FROM limpet.record r JOIN limpet.machine m ON m.machine = r.machine
JOIN limpet.stream s ON s.machine = r.machine AND s.name = r.stream
WHERE r.machine = ANY (:machines) AND r.no > m.records - :among AND r.kind IN ('limpet_start', 'limpet_beat') ORDER BY r.no DESC LIMIT 1
-- name: unseen_by
WITH recent AS (
  SELECT e.pos, e.arrived_ms, e.machine, e.agent, strpos(',' || e.sources || ',', ',' || :witness || ',') > 0 AS seen
  FROM limpet.event e
  WHERE e.machine = ANY (:machines) AND e.pos >= :since::bigint << 20 AND e.type IN ('tool_call', 'message')
    AND strpos(e.sources, 'openclaw.') > 0 AND coalesce(e.label, '') NOT IN ('own', 'internal')
  ORDER BY e.pos DESC LIMIT :among)
SELECT count(*), min(pos) >> 20 FROM recent r
WHERE NOT seen AND arrived_ms <= :until AND pos > :after::bigint << 20
  AND pos > (SELECT max(pos) FROM recent b WHERE b.seen AND b.machine = r.machine AND b.agent = r.agent) + (2000::bigint << 20)
-- name: seen_by_both
SELECT count(*) FROM (SELECT 1 FROM limpet.event e
  WHERE e.machine = ANY (:machines) AND e.pos BETWEEN :since::bigint << 20 AND :until::bigint << 20
  AND strpos(e.sources, :one) > 0 AND strpos(e.sources, :other) > 0 LIMIT 1) found
-- name: last_calls
SELECT e.status, e.pos >> 20 FROM limpet.event e
WHERE e.machine = ANY (:machines) AND e.type = 'tool_call' AND e.pos >= :since::bigint << 20 AND e.status <> 'started'
ORDER BY e.pos DESC LIMIT :among
