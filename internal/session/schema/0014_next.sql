-- The oldest open turn of a session is found without reading those that ended.
CREATE INDEX session_turn_next ON session_turn (tenant, session, id) WHERE ended_at = 0;
