CREATE TABLE session_checkout (
	tenant TEXT NOT NULL,
	path TEXT NOT NULL,
	repo TEXT NOT NULL,
	body TEXT NOT NULL,
	made_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, path)
);
