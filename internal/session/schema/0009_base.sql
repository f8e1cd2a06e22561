CREATE TABLE session_base (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	folder TEXT NOT NULL,
	body BLOB NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, session)
);
CREATE TABLE session_base_file (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	hash TEXT NOT NULL,
	content BLOB NOT NULL,
	PRIMARY KEY (tenant, session, hash)
);
