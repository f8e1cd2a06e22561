CREATE TABLE oauth_client (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	redirects TEXT NOT NULL,
	actor TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE TABLE oauth_grant (
	hash BLOB PRIMARY KEY,
	tenant TEXT NOT NULL,
	client TEXT NOT NULL,
	kind TEXT NOT NULL,
	redirect TEXT NOT NULL,
	challenge TEXT NOT NULL,
	expires_at BIGINT NOT NULL,
	used_at BIGINT NOT NULL
);
CREATE INDEX oauth_grant_client ON oauth_grant (tenant, client);
