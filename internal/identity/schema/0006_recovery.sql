CREATE TABLE recovery_code (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	actor TEXT NOT NULL,
	hash BLOB NOT NULL,
	made_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (hash)
);
CREATE TABLE recovery (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	actor TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	due_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
