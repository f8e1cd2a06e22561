-- Names that the journal had before it was restored from a copy, each with its size when it left it.
CREATE TABLE journal_origin (
	origin TEXT PRIMARY KEY,
	size BIGINT NOT NULL,
	left_at BIGINT NOT NULL
);
