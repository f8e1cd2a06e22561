CREATE TABLE job (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	state TEXT NOT NULL,
	body TEXT NOT NULL,
	owner TEXT NOT NULL,
	fence BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX job_state ON job (state);
CREATE TABLE job_evidence (
	tenant TEXT NOT NULL,
	job TEXT NOT NULL,
	n BIGINT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (tenant, job, n)
);
