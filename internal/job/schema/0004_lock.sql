CREATE TABLE job_lock (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	digest TEXT NOT NULL,
	by_name TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, repo, digest)
);
