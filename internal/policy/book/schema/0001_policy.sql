CREATE TABLE policy_head (
	tenant TEXT PRIMARY KEY,
	version BIGINT NOT NULL
);
CREATE TABLE policy_version (
	tenant TEXT NOT NULL,
	version BIGINT NOT NULL,
	change TEXT NOT NULL,
	subject TEXT NOT NULL,
	note TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, version)
);
CREATE TABLE policy_rules (
	tenant TEXT NOT NULL,
	version BIGINT NOT NULL,
	rules TEXT NOT NULL,
	boundary TEXT NOT NULL,
	PRIMARY KEY (tenant, version)
);
CREATE TABLE policy_grant (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	body TEXT NOT NULL,
	added_version BIGINT NOT NULL,
	added_by TEXT NOT NULL,
	added_at BIGINT NOT NULL,
	revoked_version BIGINT NOT NULL,
	revoked_by TEXT NOT NULL,
	revoked_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
