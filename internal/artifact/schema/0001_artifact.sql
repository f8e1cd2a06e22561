CREATE TABLE artifact (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	version BIGINT NOT NULL,
	kind TEXT NOT NULL,
	digest TEXT NOT NULL,
	size BIGINT NOT NULL,
	readable TEXT NOT NULL,
	automation TEXT NOT NULL,
	run TEXT NOT NULL,
	node TEXT NOT NULL,
	item BIGINT NOT NULL,
	attempt BIGINT NOT NULL,
	inputs TEXT NOT NULL,
	checks TEXT NOT NULL,
	ai BIGINT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX artifact_name ON artifact (tenant, name, version);
CREATE INDEX artifact_run ON artifact (tenant, run);
CREATE INDEX artifact_digest ON artifact (tenant, digest);
CREATE INDEX artifact_readable ON artifact (tenant, readable);

CREATE TABLE artifact_body (
	tenant TEXT NOT NULL,
	digest TEXT NOT NULL,
	size BIGINT NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY (tenant, digest)
);
