-- How far the last check that found nothing came: a root of the tree, signed by the journal's key for this purpose. The row by itself is
-- worth nothing.
CREATE TABLE journal_checked (
	id INTEGER PRIMARY KEY,
	size BIGINT NOT NULL,
	root BLOB NOT NULL,
	at BIGINT NOT NULL,
	sig BLOB NOT NULL
);
