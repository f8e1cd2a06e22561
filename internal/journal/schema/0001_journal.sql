CREATE TABLE journal_head (
	id INTEGER PRIMARY KEY,
	size BIGINT NOT NULL,
	edge BLOB NOT NULL,
	origin TEXT NOT NULL
);

CREATE TABLE journal_event (
	seq INTEGER PRIMARY KEY,
	at BIGINT NOT NULL,
	tenant TEXT NOT NULL,
	type TEXT NOT NULL,
	phase TEXT NOT NULL,
	actor TEXT NOT NULL,
	behalf TEXT NOT NULL,
	resource TEXT NOT NULL,
	request TEXT NOT NULL,
	cause BIGINT NOT NULL,
	salt BLOB NOT NULL,
	payload_hash BLOB NOT NULL,
	leaf BLOB NOT NULL,
	payload_salt BLOB,
	payload BLOB
);

CREATE TABLE journal_tile (
	level BIGINT NOT NULL,
	n BIGINT NOT NULL,
	root BLOB NOT NULL,
	hashes BLOB NOT NULL,
	PRIMARY KEY (level, n)
) WITHOUT ROWID;

CREATE TABLE journal_checkpoint (
	size INTEGER PRIMARY KEY,
	at BIGINT NOT NULL,
	note TEXT NOT NULL
);

CREATE TABLE journal_receipt (
	seq INTEGER PRIMARY KEY,
	proof TEXT NOT NULL
);
