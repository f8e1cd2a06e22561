CREATE TABLE terminal_skip (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	folder TEXT NOT NULL,
	owner TEXT NOT NULL,
	asker TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
