-- A fleet: what a push to another database still has to bring there.

-- The fleet that this memory is pushed to, under which name, up to which change and which record it has all; else empty.
CREATE TABLE fleet (id TEXT PRIMARY KEY, machine TEXT NOT NULL, sent INTEGER NOT NULL, head INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- What changed and is not in the fleet yet, each thing once, in order of its last change: `event` by id, `stream` by its
-- name's number, `content` that went by record number, `body` that went by hash. Nothing stands here where there is no fleet.
CREATE TABLE outbox (no INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key ANY NOT NULL, UNIQUE (kind, key)) STRICT;

CREATE TRIGGER event_came AFTER INSERT ON event WHEN EXISTS (SELECT 1 FROM fleet) BEGIN
  DELETE FROM outbox WHERE kind = 'event' AND key = new.id;
  INSERT INTO outbox (kind, key) VALUES ('event', new.id);
END;
CREATE TRIGGER event_changed AFTER UPDATE ON event WHEN EXISTS (SELECT 1 FROM fleet) BEGIN
  DELETE FROM outbox WHERE kind = 'event' AND key = new.id;
  INSERT INTO outbox (kind, key) VALUES ('event', new.id);
END;
CREATE TRIGGER event_went AFTER DELETE ON event WHEN EXISTS (SELECT 1 FROM fleet) BEGIN
  DELETE FROM outbox WHERE kind = 'event' AND key = old.id;
  INSERT INTO outbox (kind, key) VALUES ('event', old.id);
END;
CREATE TRIGGER stream_came AFTER INSERT ON stream WHEN EXISTS (SELECT 1 FROM fleet) BEGIN
  DELETE FROM outbox WHERE kind = 'stream' AND key = new.id;
  INSERT INTO outbox (kind, key) VALUES ('stream', new.id);
END;
CREATE TRIGGER stream_changed AFTER UPDATE ON stream WHEN EXISTS (SELECT 1 FROM fleet) BEGIN
  DELETE FROM outbox WHERE kind = 'stream' AND key = new.id;
  INSERT INTO outbox (kind, key) VALUES ('stream', new.id);
END;
CREATE TRIGGER content_went AFTER DELETE ON content WHEN EXISTS (SELECT 1 FROM fleet) BEGIN
  DELETE FROM outbox WHERE kind = 'content' AND key = old.no;
  INSERT INTO outbox (kind, key) VALUES ('content', old.no);
END;
CREATE TRIGGER body_went AFTER DELETE ON body WHEN EXISTS (SELECT 1 FROM fleet) BEGIN
  DELETE FROM outbox WHERE kind = 'body' AND key = old.hash;
  INSERT INTO outbox (kind, key) VALUES ('body', old.hash);
END;
