CREATE TABLE session_unconfined (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	granted_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, session)
);
