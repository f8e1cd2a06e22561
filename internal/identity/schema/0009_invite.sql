CREATE TABLE invite (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	hash BLOB NOT NULL,
	uses BIGINT NOT NULL,
	used BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by TEXT NOT NULL,
	expires_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (hash)
);
CREATE TABLE invite_use (
	tenant TEXT NOT NULL,
	invite TEXT NOT NULL,
	actor TEXT NOT NULL,
	source TEXT NOT NULL,
	used_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, invite, actor)
);
