CREATE TABLE resource (
	tenant TEXT NOT NULL,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	rev BIGINT NOT NULL,
	fence BIGINT NOT NULL,
	owner TEXT NOT NULL,
	updated_by TEXT NOT NULL,
	updated_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX resource_expiry ON resource (expires_at) WHERE expires_at > 0;
CREATE TABLE resource_fence (
	tenant TEXT PRIMARY KEY,
	last BIGINT NOT NULL
) WITHOUT ROWID;
