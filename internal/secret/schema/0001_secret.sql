CREATE TABLE secret_key (
	id TEXT PRIMARY KEY,
	keeper TEXT NOT NULL,
	state TEXT NOT NULL,
	made_at BIGINT NOT NULL
);

CREATE TABLE secret (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	version BIGINT NOT NULL,
	key_id TEXT NOT NULL,
	sealed BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	updated_by TEXT NOT NULL,
	PRIMARY KEY (tenant, name)
);
