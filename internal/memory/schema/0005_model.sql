CREATE TABLE memory_model (
	tenant TEXT PRIMARY KEY,
	kind TEXT NOT NULL,
	ref TEXT NOT NULL,
	digest TEXT NOT NULL,
	asks TEXT NOT NULL,
	tells TEXT NOT NULL,
	set_by TEXT NOT NULL,
	set_at BIGINT NOT NULL,
	name TEXT NOT NULL,
	dims BIGINT NOT NULL,
	shared BLOB NOT NULL,
	problem TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE memory_pointed (
	tenant TEXT NOT NULL,
	place BIGINT NOT NULL,
	nr BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	model TEXT NOT NULL,
	vec BLOB NOT NULL,
	PRIMARY KEY (tenant, place, nr)
) WITHOUT ROWID;
CREATE UNIQUE INDEX memory_pointed_seq ON memory_pointed (tenant, place, seq);
