ALTER TABLE memory_place ADD COLUMN seq BIGINT NOT NULL DEFAULT 0;
UPDATE memory_place SET seq = coalesce((SELECT max(v.seq) FROM memory_vector v
	WHERE v.tenant = memory_place.tenant AND v.place = memory_place.nr), 0);
CREATE UNIQUE INDEX memory_place_nr ON memory_place (tenant, nr);
DROP INDEX memory_vector_seq;
CREATE UNIQUE INDEX memory_vector_seq ON memory_vector (tenant, place, seq);
