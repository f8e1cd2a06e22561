CREATE TABLE source_words (
	tenant TEXT NOT NULL,
	nr BIGINT NOT NULL,
	length BIGINT NOT NULL,
	words TEXT NOT NULL,
	PRIMARY KEY (tenant, nr)
) WITHOUT ROWID;
INSERT INTO source_words (tenant, nr, length, words)
	SELECT tenant, nr, max(length), group_concat(CAST(term AS TEXT), '|') FROM source_posting GROUP BY tenant, nr;
DROP INDEX source_posting_nr;
