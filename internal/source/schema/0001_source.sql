CREATE TABLE source_number (
	tenant TEXT PRIMARY KEY,
	last BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE source (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	nr BIGINT NOT NULL,
	folder TEXT NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	owner TEXT NOT NULL,
	owner_name TEXT NOT NULL,
	home TEXT NOT NULL,
	every BIGINT NOT NULL,
	wanted BIGINT NOT NULL,
	made_at BIGINT NOT NULL,
	looked_at BIGINT NOT NULL,
	imported_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE TABLE source_file (
	tenant TEXT NOT NULL,
	place BIGINT NOT NULL,
	path TEXT NOT NULL,
	nr BIGINT NOT NULL,
	digest TEXT NOT NULL,
	size BIGINT NOT NULL,
	modified BIGINT NOT NULL,
	reason TEXT NOT NULL,
	texts BIGINT NOT NULL,
	length BIGINT NOT NULL,
	read_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, place, path)
) WITHOUT ROWID;
CREATE TABLE source_passage (
	tenant TEXT NOT NULL,
	nr BIGINT NOT NULL,
	place BIGINT NOT NULL,
	file BIGINT NOT NULL,
	spot TEXT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (tenant, nr)
) WITHOUT ROWID;
CREATE INDEX source_passage_file ON source_passage (tenant, file);
CREATE TABLE source_posting (
	tenant TEXT NOT NULL,
	term BLOB NOT NULL,
	place BIGINT NOT NULL,
	nr BIGINT NOT NULL,
	often BIGINT NOT NULL,
	length BIGINT NOT NULL,
	spots TEXT NOT NULL,
	PRIMARY KEY (tenant, term, place, nr)
) WITHOUT ROWID;
CREATE INDEX source_posting_nr ON source_posting (tenant, nr);
