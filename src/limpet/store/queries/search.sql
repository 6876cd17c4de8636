-- name: drop_schema
DROP TABLE IF EXISTS text
-- name: schema
CREATE VIRTUAL TABLE text USING fts5 (body, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2")
-- name: put_text
INSERT INTO text (rowid, body) VALUES (?, ?)
-- name: drop_text
DELETE FROM text WHERE rowid = ?
-- name: matches
SELECT rowid FROM text WHERE text MATCH :expression AND rowid >= :since AND rowid < :until ORDER BY rowid DESC LIMIT :most
-- name: check
INSERT INTO text (text) VALUES ('integrity-check')
-- name: clear_text
INSERT INTO text (text) VALUES ('delete-all')
-- name: words_schema
CREATE VIRTUAL TABLE IF NOT EXISTS temp.word USING fts5vocab (main, text, instance)
-- name: words
SELECT term, doc, offset FROM temp.word
-- name: count_docs
SELECT rowid FROM text
-- name: optimize
INSERT INTO text (text) VALUES ('optimize')
