CREATE TABLE schedule (
	tenant TEXT NOT NULL,
	kind TEXT NOT NULL,
	body TEXT NOT NULL,
	grant_id TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	since_at BIGINT NOT NULL,
	done_at BIGINT NOT NULL,
	failed_at BIGINT NOT NULL,
	failure TEXT NOT NULL,
	PRIMARY KEY (tenant, kind)
);
