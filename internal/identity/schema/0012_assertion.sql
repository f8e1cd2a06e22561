-- keys whose signed assertions say whom a request is for, and the assertions that were seen and have not ended
CREATE TABLE assertion_key (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	public_key BLOB NOT NULL,
	purpose TEXT NOT NULL,
	organization TEXT NOT NULL,
	deployment TEXT NOT NULL,
	audiences TEXT NOT NULL,
	not_before BIGINT NOT NULL,
	not_after BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	created_by TEXT NOT NULL,
	used_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (id)
);
CREATE TABLE assertion_seen (
	tenant TEXT NOT NULL,
	issuer TEXT NOT NULL,
	id TEXT NOT NULL,
	audience TEXT NOT NULL,
	digest BLOB NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, issuer, id)
);
CREATE INDEX assertion_seen_expiry ON assertion_seen (expires_at);
