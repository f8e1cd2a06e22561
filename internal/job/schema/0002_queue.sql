CREATE TABLE job_queue (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	branch TEXT NOT NULL,
	body TEXT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, repo, branch)
);
