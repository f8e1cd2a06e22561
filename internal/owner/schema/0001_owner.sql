-- One row for each daemon that worked with this database. lease_until is 0 where no lease is needed to tell whether it lives.
CREATE TABLE server (
	id TEXT PRIMARY KEY,
	fence BIGINT NOT NULL UNIQUE,
	installation TEXT NOT NULL,
	host TEXT NOT NULL,
	place TEXT NOT NULL,
	folder TEXT NOT NULL,
	pid BIGINT NOT NULL,
	link TEXT NOT NULL,
	started_at BIGINT NOT NULL,
	lease_until BIGINT NOT NULL,
	renewed BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	ended_by TEXT NOT NULL
);
