CREATE TABLE memory_told (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	id TEXT NOT NULL,
	told_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, session, id)
) WITHOUT ROWID;
CREATE INDEX memory_told_id ON memory_told (tenant, id);
