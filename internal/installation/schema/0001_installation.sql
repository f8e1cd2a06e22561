CREATE TABLE installation (
	one BIGINT PRIMARY KEY,
	id TEXT NOT NULL,
	made_at BIGINT NOT NULL
);
CREATE TABLE installation_key (
	name TEXT PRIMARY KEY,
	mark TEXT NOT NULL,
	known_at BIGINT NOT NULL
);
