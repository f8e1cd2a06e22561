-- The journals that a tenant had on other servers, as they were exported there: lines that verify by themselves, in parts.
CREATE TABLE journal_former (
	tenant TEXT NOT NULL,
	made BIGINT NOT NULL,
	part BIGINT NOT NULL,
	origin TEXT NOT NULL,
	lines BLOB NOT NULL,
	PRIMARY KEY (tenant, made, part)
);
