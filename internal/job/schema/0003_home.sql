ALTER TABLE job ADD COLUMN home TEXT NOT NULL DEFAULT '';
CREATE INDEX job_home ON job (home);
CREATE TABLE job_queue_of (
	tenant TEXT NOT NULL,
	home TEXT NOT NULL,
	repo TEXT NOT NULL,
	branch TEXT NOT NULL,
	body TEXT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, home, repo, branch)
);
INSERT INTO job_queue_of (tenant, home, repo, branch, body, updated_at) SELECT tenant, '', repo, branch, body, updated_at FROM job_queue;
DROP TABLE job_queue;
ALTER TABLE job_queue_of RENAME TO job_queue;
