-- Whatever a question may name alone has an index: an agent that was quiet for a year is asked for as often as a busy one.
CREATE INDEX event_session_key ON event (session_key) WHERE session_key IS NOT NULL;
CREATE INDEX event_agent ON event (agent);
CREATE INDEX event_status ON event (status) WHERE status IS NOT NULL;

-- How many events there are per day (UTC, since 1970), 0 standing for none: counts of all time read this and not each event.
-- It changes with the events, in their transaction, and so is never behind.
CREATE TABLE rollup (
  day INTEGER NOT NULL,
  type INTEGER NOT NULL,
  status INTEGER NOT NULL,
  tool INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  label INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (day, type, status, tool, agent, label)
) STRICT, WITHOUT ROWID;
INSERT INTO rollup
SELECT (pos >> 20) / 86400000, type, coalesce(status, 0), coalesce(tool, 0), coalesce(agent, 0), coalesce(label, 0), count(*)
FROM event GROUP BY 1, 2, 3, 4, 5, 6;

CREATE TRIGGER event_counted AFTER INSERT ON event BEGIN
  INSERT INTO rollup
  VALUES ((new.pos >> 20) / 86400000, new.type, coalesce(new.status, 0), coalesce(new.tool, 0), coalesce(new.agent, 0),
    coalesce(new.label, 0), 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER event_uncounted AFTER DELETE ON event BEGIN
  UPDATE rollup SET n = n - 1 WHERE day = (old.pos >> 20) / 86400000 AND type = old.type AND status = coalesce(old.status, 0)
    AND tool = coalesce(old.tool, 0) AND agent = coalesce(old.agent, 0) AND label = coalesce(old.label, 0);
  DELETE FROM rollup WHERE day = (old.pos >> 20) / 86400000 AND type = old.type AND status = coalesce(old.status, 0)
    AND tool = coalesce(old.tool, 0) AND agent = coalesce(old.agent, 0) AND label = coalesce(old.label, 0) AND n = 0;
END;
CREATE TRIGGER event_recounted AFTER UPDATE OF status ON event BEGIN
  UPDATE rollup SET n = n - 1 WHERE day = (old.pos >> 20) / 86400000 AND type = old.type AND status = coalesce(old.status, 0)
    AND tool = coalesce(old.tool, 0) AND agent = coalesce(old.agent, 0) AND label = coalesce(old.label, 0);
  DELETE FROM rollup WHERE day = (old.pos >> 20) / 86400000 AND type = old.type AND status = coalesce(old.status, 0)
    AND tool = coalesce(old.tool, 0) AND agent = coalesce(old.agent, 0) AND label = coalesce(old.label, 0) AND n = 0;
  INSERT INTO rollup
  VALUES ((new.pos >> 20) / 86400000, new.type, coalesce(new.status, 0), coalesce(new.tool, 0), coalesce(new.agent, 0),
    coalesce(new.label, 0), 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Which database this is: its text index carries the same number, so that another one's is never asked in its place.
INSERT OR IGNORE INTO meta (name, value) SELECT 'identity', 1 + abs(random() % 2147483646);
