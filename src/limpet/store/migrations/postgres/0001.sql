-- The fleet's first schema, made by its owner: `limpet push --prepare URL`, or `psql -1 -f`. Keys begin with the machine.
CREATE SCHEMA limpet;

-- Which fleet this is, and the number of its schema.
CREATE TABLE limpet.fleet (id uuid NOT NULL DEFAULT gen_random_uuid(), version int NOT NULL);
INSERT INTO limpet.fleet (version) VALUES (1);

-- Who may do what: a role pushes for a tenant, or reads what is a tenant's.
CREATE TABLE limpet.member (
  role name NOT NULL,
  tenant text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('pusher', 'reader')),
  PRIMARY KEY (role, tenant, kind)
);
CREATE UNIQUE INDEX member_pusher ON limpet.member (role) WHERE kind = 'pusher';

-- Each machine: whose it is, which role pushes it, up to where its ledger and its changes are here, what it says of itself.
CREATE TABLE limpet.machine (
  machine int PRIMARY KEY,
  tenant text NOT NULL,
  name text NOT NULL,
  role name NOT NULL,
  records bigint NOT NULL DEFAULT 0,
  head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  sent bigint NOT NULL DEFAULT 0,
  pushed_ms bigint NOT NULL DEFAULT 0,
  said text NOT NULL DEFAULT '{}',
  UNIQUE (tenant, name)
);

-- The ledgers: what a source said, once. `leaf` is what the chain covers; bytes and nonce go when a record is forgotten.
CREATE TABLE limpet.record (
  machine int NOT NULL,
  no bigint NOT NULL,
  arrived_ms bigint NOT NULL,
  tenant text NOT NULL,
  id bytea NOT NULL,
  source text NOT NULL,
  stream text NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  nonce bytea,
  leaf bytea,
  hash bytea NOT NULL,
  codec smallint,
  bytes bytea,
  PRIMARY KEY (machine, no, arrived_ms)
) PARTITION BY RANGE (arrived_ms);
CREATE INDEX record_time ON limpet.record USING brin (arrived_ms);
CREATE TABLE limpet.record_other PARTITION OF limpet.record DEFAULT;

-- Large texts, by content hash.
CREATE TABLE limpet.body (
  machine int NOT NULL,
  hash bytea NOT NULL,
  tenant text NOT NULL,
  codec smallint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (machine, hash)
);

-- What happened. `pos` is the time in ms and, in its low 20 bits, a tie-break; `words` are the text's tokens in their order,
-- `terms` 64-bit hashes of the different ones and of the event's join keys, which are in `keys` as well.
CREATE TABLE limpet.event (
  machine int NOT NULL,
  agent text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  id bigint NOT NULL,
  tenant text NOT NULL,
  arrived_ms bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  status text COLLATE "C",
  session text COLLATE "C",
  session_key text COLLATE "C",
  run text COLLATE "C",
  call text COLLATE "C",
  tool text COLLATE "C",
  actor text COLLATE "C",
  trust text COLLATE "C",
  label text COLLATE "C",
  duration_ms bigint,
  summary text NOT NULL,
  error text,
  flags text,
  sources text COLLATE "C" NOT NULL,
  details text NOT NULL,
  tags text NOT NULL,
  child text,
  child_session text,
  keys bigint[] NOT NULL,
  terms bigint[] NOT NULL,
  words text COLLATE "C" NOT NULL,
  PRIMARY KEY (machine, agent, pos, id)
) PARTITION BY RANGE (pos);
CREATE INDEX event_id ON limpet.event (machine, id);
CREATE INDEX event_time ON limpet.event USING brin (pos);
CREATE INDEX event_session ON limpet.event (machine, session) WHERE session IS NOT NULL;
CREATE INDEX event_terms ON limpet.event USING gin (terms);
CREATE TABLE limpet.event_other PARTITION OF limpet.event DEFAULT;

-- Which event each part of a record was merged into; a part that is its event's first stands for itself.
CREATE TABLE limpet.sighting (
  machine int NOT NULL,
  place bigint NOT NULL,
  event bigint NOT NULL,
  tenant text NOT NULL,
  PRIMARY KEY (machine, place)
);
CREATE INDEX sighting_event ON limpet.sighting (machine, event);

-- What each stream gave: missing numbers and silence show here.
CREATE TABLE limpet.stream (
  machine int NOT NULL,
  name text NOT NULL,
  tenant text NOT NULL,
  source text NOT NULL,
  records bigint NOT NULL,
  low bigint NOT NULL,
  high bigint NOT NULL,
  first_ms bigint NOT NULL,
  last_ms bigint NOT NULL,
  ended boolean NOT NULL,
  PRIMARY KEY (machine, name)
);

-- Where a push lays its batch down before it is taken in; empty again when that is done.
CREATE UNLOGGED TABLE limpet.stage_record (
  batch uuid NOT NULL, no bigint, id bytea, source text, stream text, seq bigint, kind text, arrived_ms bigint, nonce bytea,
  leaf bytea, hash bytea, codec smallint, bytes bytea
);
CREATE UNLOGGED TABLE limpet.stage_body (batch uuid NOT NULL, hash bytea, codec smallint, bytes bytea);
CREATE UNLOGGED TABLE limpet.stage_event (
  batch uuid NOT NULL, id bigint, pos bigint, arrived_ms bigint, type text, status text, agent text, session text, session_key text,
  run text, call text, tool text, actor text, trust text, label text, duration_ms bigint, summary text, error text, flags text,
  sources text, details text, tags text, child text, child_session text, keys bigint[], terms bigint[], words text, places bigint[]
);
CREATE UNLOGGED TABLE limpet.stage_stream (
  batch uuid NOT NULL, name text, source text, records bigint, low bigint, high bigint, first_ms bigint, last_ms bigint, ended boolean
);
CREATE UNLOGGED TABLE limpet.stage_amended (
  batch uuid NOT NULL, no bigint, source text, stream text, kind text, nonce bytea, codec smallint, bytes bytea
);
CREATE INDEX stage_amended_batch ON limpet.stage_amended (batch);
CREATE INDEX stage_record_batch ON limpet.stage_record (batch);
CREATE INDEX stage_body_batch ON limpet.stage_body (batch);
CREATE INDEX stage_event_batch ON limpet.stage_event (batch);
CREATE INDEX stage_stream_batch ON limpet.stage_stream (batch);

-- The tenants whose rows the login that asks may see.
CREATE FUNCTION limpet.tenants() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT tenant FROM limpet.member WHERE role = session_user AND kind = 'reader'
$$;

-- The events whose text may hold all of these terms: through the index, which a row's policy alone would keep from being used.
CREATE FUNCTION limpet.holding(terms bigint[], machines int[], since bigint, until bigint)
RETURNS TABLE (machine int, id bigint) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT e.machine, e.id FROM limpet.event e
  WHERE e.terms @> holding.terms AND e.machine = ANY (machines) AND e.pos >= since AND e.pos < until
    AND (e.tenant IN (SELECT limpet.tenants()) OR pg_has_role(session_user, current_user, 'USAGE'))
$$;

-- Make the month's partitions for these times in ms. Far-off times, of a clock that is wrong, stay in the default partition.
CREATE FUNCTION limpet.make_months(times bigint[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  wanted timestamp[];
  before text := current_setting('lock_timeout');
  first timestamp;
  low bigint;
  high bigint;
BEGIN
  SELECT array_agg(DISTINCT month) INTO wanted
  FROM (SELECT date_trunc('month', to_timestamp(t / 1000.0) AT TIME ZONE 'UTC') AS month FROM unnest(times) t
    WHERE to_timestamp(t / 1000.0) BETWEEN '2020-01-01Z' AND now() + interval '40 days') m
  WHERE to_regclass('limpet.event_' || to_char(month, 'YYYY_MM')) IS NULL;
  IF wanted IS NULL THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('limpet.make_months'));
  FOREACH first IN ARRAY wanted LOOP
    low := extract(epoch FROM first)::bigint * 1000;
    high := extract(epoch FROM first + interval '1 month')::bigint * 1000;
    -- A new partition waits for whoever reads the table, and everybody else waits behind it: so only a moment at a time.
    FOR attempt IN 1..5 LOOP
      EXIT WHEN to_regclass('limpet.event_' || to_char(first, 'YYYY_MM')) IS NOT NULL;
      BEGIN
        PERFORM set_config('lock_timeout', '500ms', true);
        EXECUTE format('CREATE TABLE limpet.%I PARTITION OF limpet.record FOR VALUES FROM (%s) TO (%s)',
          'record_' || to_char(first, 'YYYY_MM'), low, high);
        EXECUTE format('CREATE TABLE limpet.%I PARTITION OF limpet.event FOR VALUES FROM (%s) TO (%s)',
          'event_' || to_char(first, 'YYYY_MM'), low << 20, high << 20);
      EXCEPTION WHEN check_violation THEN
        EXIT;  -- the default partition holds rows of that month already: they came when it was far off, and all go on there
      WHEN lock_not_available THEN
        IF attempt = 5 THEN
          RAISE;
        END IF;
        PERFORM pg_sleep(0.3);
      END;
    END LOOP;
  END LOOP;
  PERFORM set_config('lock_timeout', before, true);
END $$;

-- A pusher says which machine it is, and learns up to where that machine's ledger and changes are here.
CREATE FUNCTION limpet.hello(called text)
RETURNS TABLE (machine int, records bigint, head bytea, sent bigint, now_ms bigint, fleet text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  whose text;
  known limpet.machine;
BEGIN
  SELECT m.tenant INTO whose FROM limpet.member m WHERE m.role = session_user AND m.kind = 'pusher';
  IF whose IS NULL THEN
    RAISE EXCEPTION 'limpet: the role % is no pusher', session_user USING ERRCODE = 'LM001';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('limpet.hello'));
  SELECT * INTO known FROM limpet.machine m WHERE m.tenant = whose AND m.name = called;
  IF NOT FOUND THEN
    INSERT INTO limpet.machine (machine, tenant, name, role)
    SELECT coalesce(max(m.machine) + 1, 0), whose, called, session_user FROM limpet.machine m RETURNING * INTO known;
  ELSIF known.role <> session_user THEN
    RAISE EXCEPTION 'limpet: the machine % is pushed by another role', called USING ERRCODE = 'LM002';
  END IF;
  RETURN QUERY SELECT known.machine, known.records, known.head, known.sent,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint, (SELECT f.id::text FROM limpet.fleet f);
END $$;

-- Take in what a pusher laid down as one batch: all of it or nothing, and only where nothing came between. Records are appended;
-- of one that was forgotten or cleaned the bytes go or change, never its leaf nor its place in the chain.
CREATE FUNCTION limpet.take(which int, this uuid, from_no bigint, begins bigint, from_sent bigint, new_sent bigint, dropped bytea[], says text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  mine limpet.machine;
  ids bigint[];
  live bigint[];
  parts bigint[];
  low bigint;
  high bigint;
  many bigint;
BEGIN
  LOCK TABLE ONLY limpet.record, ONLY limpet.event IN ROW EXCLUSIVE MODE;  -- in the order in which make_months locks them
  SELECT * INTO mine FROM limpet.machine m WHERE m.machine = which AND m.role = session_user FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'limpet: that machine is pushed by another role' USING ERRCODE = 'LM002';
  END IF;
  IF mine.records <> from_no OR mine.sent <> from_sent THEN
    RAISE EXCEPTION 'limpet: another push of this machine came between' USING ERRCODE = 'LM003';
  END IF;

  INSERT INTO limpet.body (machine, hash, tenant, codec, bytes)
  SELECT which, hash, mine.tenant, codec, bytes FROM limpet.stage_body WHERE batch = this ON CONFLICT DO NOTHING;
  DELETE FROM limpet.stage_body WHERE batch = this;

  SELECT min(no), max(no), count(*) INTO low, high, many FROM limpet.stage_record WHERE batch = this;
  IF many > 0 THEN
    IF low <> greatest(from_no, begins) + 1 OR high - low + 1 <> many THEN
      RAISE EXCEPTION 'limpet: records % to % do not follow record %', low, high, from_no USING ERRCODE = 'LM004';
    END IF;
    INSERT INTO limpet.record (machine, no, arrived_ms, tenant, id, source, stream, seq, kind, nonce, leaf, hash, codec, bytes)
    SELECT which, no, arrived_ms, mine.tenant, id, source, stream, seq, kind, nonce, leaf, hash, codec, bytes
    FROM limpet.stage_record WHERE batch = this ORDER BY no ON CONFLICT DO NOTHING;
    UPDATE limpet.machine SET records = high, head = (SELECT hash FROM limpet.stage_record WHERE batch = this AND no = high)
    WHERE machine = which;
    DELETE FROM limpet.stage_record WHERE batch = this;
  END IF;

  -- Nothing is kept of what was made of an erased record, but for what comes with this batch.
  DELETE FROM limpet.event e USING limpet.stage_amended s
  WHERE s.batch = this AND s.bytes IS NULL AND e.machine = which AND e.id >= s.no << 12 AND e.id < (s.no + 1) << 12;
  DELETE FROM limpet.sighting t USING limpet.stage_amended s
  WHERE s.batch = this AND s.bytes IS NULL AND t.machine = which AND t.event >= s.no << 12 AND t.event < (s.no + 1) << 12;

  SELECT array_agg(id), array_agg(id) FILTER (WHERE pos IS NOT NULL) INTO ids, live FROM limpet.stage_event WHERE batch = this;
  IF ids IS NOT NULL THEN
    SELECT array_agg(p) INTO parts FROM limpet.stage_event s, unnest(s.places) p WHERE s.batch = this;
    DELETE FROM limpet.event WHERE machine = which AND id = ANY (ids || coalesce(parts, '{}'));
    DELETE FROM limpet.sighting WHERE machine = which AND event = ANY (ids);
    DELETE FROM limpet.sighting WHERE machine = which AND place = ANY (live || coalesce(parts, '{}'));
    INSERT INTO limpet.event (machine, agent, pos, id, tenant, arrived_ms, type, status, session, session_key, run, call, tool, actor,
      trust, label, duration_ms, summary, error, flags, sources, details, tags, child, child_session, keys, terms, words)
    SELECT which, agent, pos, id, mine.tenant, arrived_ms, type, status, session, session_key, run, call, tool, actor,
      trust, label, duration_ms, summary, error, flags, sources, details, tags, child, child_session, keys, terms, words
    FROM limpet.stage_event WHERE batch = this AND pos IS NOT NULL ON CONFLICT DO NOTHING;
    INSERT INTO limpet.sighting (machine, place, event, tenant)
    SELECT which, p, s.id, mine.tenant FROM limpet.stage_event s, unnest(s.places) p WHERE s.batch = this ON CONFLICT DO NOTHING;
    DELETE FROM limpet.stage_event WHERE batch = this;
  END IF;

  INSERT INTO limpet.stream (machine, name, tenant, source, records, low, high, first_ms, last_ms, ended)
  SELECT which, s.name, mine.tenant, s.source, s.records, s.low, s.high, s.first_ms, s.last_ms, s.ended
  FROM limpet.stage_stream s WHERE s.batch = this
  ON CONFLICT (machine, name) DO UPDATE SET source = excluded.source, records = excluded.records, low = excluded.low, high = excluded.high,
    first_ms = excluded.first_ms, last_ms = excluded.last_ms, ended = excluded.ended;
  DELETE FROM limpet.stage_stream WHERE batch = this;

  UPDATE limpet.record r SET source = coalesce(s.source, r.source), stream = coalesce(s.stream, r.stream), kind = coalesce(s.kind, r.kind),
    nonce = s.nonce, codec = s.codec, bytes = s.bytes
  FROM limpet.stage_amended s WHERE s.batch = this AND r.machine = which AND r.no = s.no;
  DELETE FROM limpet.stage_amended WHERE batch = this;
  DELETE FROM limpet.body WHERE machine = which AND hash = ANY (dropped);
  -- Read as every answer reads what the machines say: else one that says nonsense would stop the answers about all of them.
  IF json_typeof(says::json) <> 'object' THEN
    RAISE EXCEPTION 'limpet: what the machine says of itself is no object' USING ERRCODE = 'LM005';
  END IF;
  PERFORM c.value::bigint FROM json_each_text(says::json -> 'counts') c;
  PERFORM w ->> 0, (w ->> 1)::bigint, (w ->> 2)::bigint, (w ->> 3)::bigint, w ->> 4 FROM json_array_elements(says::json -> 'watches') w;
  PERFORM (says::json ->> name)::bigint FROM unnest(ARRAY['now_ms', 'pending', 'skew_ms']) name;
  UPDATE limpet.machine SET sent = new_sent, said = says, pushed_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
  WHERE machine = which;
END $$;

-- Let a role in, as `pusher` or `reader` of a tenant; called by the owner.
CREATE FUNCTION limpet.admit(who name, whose text, as_what text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO limpet.member (role, tenant, kind) VALUES (who, whose, as_what) ON CONFLICT (role, tenant, kind) DO NOTHING;
  EXECUTE format('GRANT USAGE ON SCHEMA limpet TO %I', who);
  EXECUTE format('GRANT SELECT ON limpet.fleet TO %I', who);
  IF as_what = 'reader' THEN
    EXECUTE format('GRANT SELECT ON limpet.machine, limpet.record, limpet.body, limpet.event, limpet.sighting, limpet.stream, limpet.events TO %I', who);
    EXECUTE format('GRANT EXECUTE ON FUNCTION limpet.tenants(), limpet.holding(bigint[], int[], bigint, bigint) TO %I', who);
  ELSE
    EXECUTE format('GRANT INSERT ON limpet.stage_record, limpet.stage_body, limpet.stage_event, limpet.stage_stream, limpet.stage_amended TO %I', who);
    EXECUTE format('GRANT EXECUTE ON FUNCTION limpet.hello(text), limpet.make_months(bigint[]), '
      'limpet.take(int, uuid, bigint, bigint, bigint, bigint, bytea[], text) TO %I', who);
  END IF;
END $$;

-- The seven columns of the well-known script first, then ours, of every machine that the reader may see.
CREATE VIEW limpet.events WITH (security_invoker = true) AS
SELECT
  e.id, to_char(to_timestamp((e.pos >> 20) / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS timestamp,
  e.session AS session_id, e.type AS event_type, e.summary, e.details, e.tags,
  e.machine, m.name AS machine_name, e.status, e.tool, e.agent, e.session_key, e.run, e.call, e.actor, e.trust, e.label, e.duration_ms,
  e.error, e.flags, e.sources, e.pos >> 20 AS at_ms, e.arrived_ms
FROM limpet.event e JOIN limpet.machine m ON m.machine = e.machine;

ALTER TABLE limpet.machine ENABLE ROW LEVEL SECURITY;
ALTER TABLE limpet.record ENABLE ROW LEVEL SECURITY;
ALTER TABLE limpet.body ENABLE ROW LEVEL SECURITY;
ALTER TABLE limpet.event ENABLE ROW LEVEL SECURITY;
ALTER TABLE limpet.sighting ENABLE ROW LEVEL SECURITY;
ALTER TABLE limpet.stream ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON limpet.machine FOR SELECT USING (tenant IN (SELECT limpet.tenants()));
CREATE POLICY tenant ON limpet.record FOR SELECT USING (tenant IN (SELECT limpet.tenants()));
CREATE POLICY tenant ON limpet.body FOR SELECT USING (tenant IN (SELECT limpet.tenants()));
CREATE POLICY tenant ON limpet.event FOR SELECT USING (tenant IN (SELECT limpet.tenants()));
CREATE POLICY tenant ON limpet.sighting FOR SELECT USING (tenant IN (SELECT limpet.tenants()));
CREATE POLICY tenant ON limpet.stream FOR SELECT USING (tenant IN (SELECT limpet.tenants()));

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA limpet FROM PUBLIC;
SELECT limpet.admit(current_user, 'main', 'pusher');
SELECT limpet.admit(current_user, 'main', 'reader');
