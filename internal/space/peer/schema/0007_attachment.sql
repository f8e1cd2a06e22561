-- Attachments of this seat's own messages, in sealed pieces: they are kept as long as a host keeps them, for the host that comes next.
CREATE TABLE peer_attachment (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, id TEXT NOT NULL, about BLOB NOT NULL, said BIGINT NOT NULL, created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, seat, id));
CREATE TABLE peer_piece (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, attachment TEXT NOT NULL, n BIGINT NOT NULL, hash TEXT NOT NULL,
	term BIGINT NOT NULL, box BLOB NOT NULL,
	PRIMARY KEY (tenant, seat, attachment, n));
