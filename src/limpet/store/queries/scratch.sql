-- name: schema
CREATE TABLE cleaned (no INTEGER PRIMARY KEY) STRICT; CREATE TABLE leaf (no INTEGER PRIMARY KEY, leaf BLOB NOT NULL) STRICT;
CREATE TABLE holder (hash BLOB PRIMARY KEY, n INTEGER NOT NULL) STRICT;
CREATE TABLE buried (key INTEGER, from_ms INTEGER, until_ms INTEGER, PRIMARY KEY (key, from_ms, until_ms)) STRICT
-- name: drop_text
DELETE FROM text WHERE rowid = ?
-- name: put_text
INSERT INTO text (rowid, body) VALUES (?, ?)
-- name: put_cleaned
INSERT OR REPLACE INTO cleaned (no) VALUES (?)
-- name: put_leaf
INSERT OR REPLACE INTO leaf (no, leaf) VALUES (?, ?)
-- name: leaves
SELECT c.no, l.leaf FROM cleaned c LEFT JOIN leaf l ON l.no = c.no
-- name: put_holder
INSERT INTO holder (hash, n) VALUES (?, 1) ON CONFLICT (hash) DO UPDATE SET n = n + 1
-- name: holders
SELECT n FROM holder WHERE hash = ?
-- name: put_key
INSERT OR IGNORE INTO buried (key, from_ms, until_ms) VALUES (?, ?, ?)
-- name: count_keys
SELECT count(*) FROM buried
