CREATE TABLE peer_receipt (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, env TEXT NOT NULL, member TEXT NOT NULL, how BIGINT NOT NULL,
	PRIMARY KEY (tenant, seat, env, member));
CREATE INDEX peer_note_unread ON peer_note (tenant, seat, seq) WHERE read_at = 0 AND class = 'message';
