-- what signed assertions narrowed their requests to, for what those began; the id is a digest of the text
CREATE TABLE assertion_narrowing (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	text TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
