CREATE TABLE memory_vector (
	tenant TEXT NOT NULL,
	place BIGINT NOT NULL,
	nr BIGINT NOT NULL,
	seq BIGINT NOT NULL,
	model TEXT NOT NULL,
	vec BLOB NOT NULL,
	PRIMARY KEY (tenant, place, nr)
) WITHOUT ROWID;
CREATE UNIQUE INDEX memory_vector_seq ON memory_vector (tenant, seq);
CREATE INDEX memory_record_place ON memory_record (tenant, place, nr);
DROP INDEX memory_record_digest;
CREATE INDEX memory_record_digest ON memory_record (tenant, digest, place, nr);
