CREATE TABLE journal_seal (
	tenant TEXT NOT NULL,
	subject TEXT NOT NULL,
	seq BIGINT NOT NULL,
	digest BLOB NOT NULL,
	mac BLOB NOT NULL,
	PRIMARY KEY (tenant, subject, seq)
);
