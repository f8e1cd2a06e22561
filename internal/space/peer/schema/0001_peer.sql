CREATE TABLE peer_name (tenant TEXT NOT NULL, owner TEXT NOT NULL, name BLOB NOT NULL, PRIMARY KEY (tenant, owner));
CREATE TABLE peer_seat (
	tenant TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, space TEXT NOT NULL, folder TEXT NOT NULL,
	state TEXT NOT NULL, why TEXT NOT NULL, host TEXT NOT NULL, pin TEXT NOT NULL,
	seq BIGINT NOT NULL, hash TEXT NOT NULL, term BIGINT NOT NULL, joined_seq BIGINT NOT NULL,
	secrets BLOB NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id));
CREATE INDEX peer_seat_owner ON peer_seat (tenant, owner);
CREATE TABLE peer_log (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, seq BIGINT NOT NULL, env TEXT NOT NULL, entry TEXT NOT NULL,
	PRIMARY KEY (tenant, seat, seq));
CREATE TABLE peer_note (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, seq BIGINT NOT NULL, env TEXT NOT NULL, class TEXT NOT NULL, sender TEXT NOT NULL, recipient TEXT NOT NULL,
	at BIGINT NOT NULL, content BLOB NOT NULL, surfaced_at BIGINT NOT NULL, read_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, seat, seq));
CREATE INDEX peer_note_env ON peer_note (tenant, seat, env);
CREATE TABLE peer_outbox (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, id TEXT NOT NULL, class TEXT NOT NULL, clear BLOB NOT NULL, recipient TEXT NOT NULL,
	content BLOB NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL, created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, seat, id));
CREATE TABLE peer_invite (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, plate TEXT NOT NULL, secret BLOB NOT NULL, state TEXT NOT NULL, expires_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, seat, plate));
