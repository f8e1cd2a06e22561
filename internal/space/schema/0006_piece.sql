-- Sealed pieces of attachments: the host knows their hash, their size and who brought them.
CREATE TABLE space_piece (
	tenant TEXT NOT NULL, space TEXT NOT NULL, hash TEXT NOT NULL, member TEXT NOT NULL, size BIGINT NOT NULL, created_at BIGINT NOT NULL,
	box BLOB NOT NULL,
	PRIMARY KEY (tenant, space, hash));
CREATE INDEX space_piece_age ON space_piece (created_at);
