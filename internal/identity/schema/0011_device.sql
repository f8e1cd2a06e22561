-- the key with which a person's machine elsewhere answers for them; wrong proofs are counted, and not checked while they have to wait
CREATE TABLE device (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	actor TEXT NOT NULL,
	terminal TEXT NOT NULL,
	name TEXT NOT NULL,
	public_key BLOB NOT NULL,
	created_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL,
	wrong BIGINT NOT NULL,
	wait_until BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE TABLE device_challenge (
	hash BLOB PRIMARY KEY,
	tenant TEXT NOT NULL,
	device TEXT NOT NULL,
	expires_at BIGINT NOT NULL
);
