-- A session is asked for by its key as often as by its id.
CREATE INDEX event_session_key ON event (session_key) WHERE session_key IS NOT NULL;
