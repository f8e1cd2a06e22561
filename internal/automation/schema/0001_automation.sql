CREATE TABLE automation (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	latest TEXT NOT NULL,
	live TEXT NOT NULL,
	actor TEXT NOT NULL,
	grants TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	switched_by TEXT NOT NULL,
	switched_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
);

CREATE TABLE automation_version (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	digest TEXT NOT NULL,
	text TEXT NOT NULL,
	actor TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	approved_by TEXT NOT NULL,
	approved_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name, digest)
);

CREATE TABLE automation_run (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	digest TEXT NOT NULL,
	status TEXT NOT NULL,
	reason TEXT NOT NULL,
	cause TEXT NOT NULL,
	made_by TEXT NOT NULL,
	given TEXT NOT NULL,
	began_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	wake_at BIGINT NOT NULL,
	events BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX automation_run_name ON automation_run (tenant, name, id);
CREATE INDEX automation_run_open ON automation_run (ended_at, wake_at);

CREATE TABLE automation_event (
	tenant TEXT NOT NULL,
	run TEXT NOT NULL,
	seq BIGINT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (tenant, run, seq)
);

CREATE TABLE automation_step (
	tenant TEXT NOT NULL,
	run TEXT NOT NULL,
	node TEXT NOT NULL,
	item BIGINT NOT NULL,
	attempt BIGINT NOT NULL,
	state TEXT NOT NULL,
	fence BIGINT NOT NULL,
	owner TEXT NOT NULL,
	lease_until BIGINT NOT NULL,
	waits TEXT NOT NULL,
	look_at BIGINT NOT NULL,
	began_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, run, node, item, attempt)
);
CREATE INDEX automation_step_open ON automation_step (state, tenant, run);
