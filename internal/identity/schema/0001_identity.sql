CREATE TABLE tenant (
	id TEXT PRIMARY KEY,
	name TEXT NOT NULL,
	created_at BIGINT NOT NULL
);
CREATE TABLE actor (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	acts_for TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	disabled_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (tenant, name)
);
CREATE TABLE token (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	actor TEXT NOT NULL,
	hash BLOB NOT NULL,
	label TEXT NOT NULL,
	decides BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by TEXT NOT NULL,
	expires_at BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (hash)
);
CREATE TABLE pin (
	tenant TEXT NOT NULL,
	actor TEXT NOT NULL,
	hash TEXT NOT NULL,
	set_at BIGINT NOT NULL,
	wrong BIGINT NOT NULL,
	wait_until BIGINT NOT NULL,
	PRIMARY KEY (tenant, actor)
);
CREATE TABLE signin (
	hash BLOB PRIMARY KEY,
	tenant TEXT NOT NULL,
	actor TEXT NOT NULL,
	kind TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX signin_expiry ON signin (expires_at);
