CREATE TABLE memory_number (
	tenant TEXT PRIMARY KEY,
	last BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE memory_place (
	tenant TEXT NOT NULL,
	nr BIGINT NOT NULL,
	tier TEXT NOT NULL,
	of_name TEXT NOT NULL,
	texts BIGINT NOT NULL,
	length BIGINT NOT NULL,
	PRIMARY KEY (tenant, tier, of_name)
) WITHOUT ROWID;
CREATE TABLE memory_record (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	nr BIGINT NOT NULL,
	place BIGINT NOT NULL,
	kind TEXT NOT NULL,
	state TEXT NOT NULL,
	trust TEXT NOT NULL,
	text TEXT NOT NULL,
	digest TEXT NOT NULL,
	labels TEXT NOT NULL,
	owner TEXT NOT NULL,
	actor TEXT NOT NULL,
	version BIGINT NOT NULL,
	uses BIGINT NOT NULL,
	replaces TEXT NOT NULL,
	replaced_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	changed_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX memory_record_nr ON memory_record (tenant, nr);
CREATE INDEX memory_record_digest ON memory_record (tenant, digest);
CREATE INDEX memory_record_actor ON memory_record (tenant, actor, state);
CREATE TABLE memory_version (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	version BIGINT NOT NULL,
	what TEXT NOT NULL,
	text TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id, version)
) WITHOUT ROWID;
CREATE TABLE memory_source (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	seq BIGINT NOT NULL,
	kind TEXT NOT NULL,
	ref TEXT NOT NULL,
	digest TEXT NOT NULL,
	place TEXT NOT NULL,
	PRIMARY KEY (tenant, id, seq)
) WITHOUT ROWID;
CREATE INDEX memory_source_ref ON memory_source (tenant, kind, ref);
CREATE TABLE memory_posting (
	tenant TEXT NOT NULL,
	term BLOB NOT NULL,
	place BIGINT NOT NULL,
	nr BIGINT NOT NULL,
	often BIGINT NOT NULL,
	length BIGINT NOT NULL,
	spots TEXT NOT NULL,
	PRIMARY KEY (tenant, term, place, nr)
) WITHOUT ROWID;
CREATE INDEX memory_posting_nr ON memory_posting (tenant, nr);
