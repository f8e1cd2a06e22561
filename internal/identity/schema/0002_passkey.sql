CREATE TABLE passkey (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	actor TEXT NOT NULL,
	name TEXT NOT NULL,
	host TEXT NOT NULL,
	credential_id BLOB NOT NULL,
	credential TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (credential_id)
);
CREATE TABLE passkey_challenge (
	hash BLOB PRIMARY KEY,
	tenant TEXT NOT NULL,
	actor TEXT NOT NULL,
	purpose TEXT NOT NULL,
	session TEXT NOT NULL,
	expires_at BIGINT NOT NULL
);
