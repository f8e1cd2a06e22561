CREATE TABLE context_run (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	kind TEXT NOT NULL,
	folder TEXT NOT NULL,
	status TEXT NOT NULL,
	revision BIGINT NOT NULL,
	events BIGINT NOT NULL,
	patches BIGINT NOT NULL,
	tasks BIGINT NOT NULL,
	bytes BIGINT NOT NULL,
	body TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	moved_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX context_run_newest ON context_run (tenant, made_at, id);
CREATE TABLE context_event (
	tenant TEXT NOT NULL,
	run TEXT NOT NULL,
	seq BIGINT NOT NULL,
	patch BIGINT NOT NULL,
	command TEXT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (tenant, run, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX context_event_command ON context_event (tenant, run, command) WHERE command <> '';
CREATE INDEX context_event_patch ON context_event (tenant, run, patch) WHERE patch > 0;
CREATE TABLE context_task (
	tenant TEXT NOT NULL,
	run TEXT NOT NULL,
	id TEXT NOT NULL,
	nr BIGINT NOT NULL,
	stage TEXT NOT NULL,
	kind TEXT NOT NULL,
	workflow TEXT NOT NULL,
	priority BIGINT NOT NULL,
	waits BIGINT NOT NULL,
	attempt BIGINT NOT NULL,
	most BIGINT NOT NULL,
	retry_at BIGINT NOT NULL,
	holder TEXT NOT NULL,
	token TEXT NOT NULL,
	lease_ends BIGINT NOT NULL,
	rev BIGINT NOT NULL,
	agent TEXT NOT NULL,
	last_error TEXT NOT NULL,
	moved_at BIGINT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (tenant, run, id)
) WITHOUT ROWID;
CREATE INDEX context_task_claim ON context_task (tenant, run, stage, priority DESC, nr);
CREATE TABLE context_need (
	tenant TEXT NOT NULL,
	run TEXT NOT NULL,
	needs TEXT NOT NULL,
	task TEXT NOT NULL,
	PRIMARY KEY (tenant, run, needs, task)
) WITHOUT ROWID;
CREATE TABLE context_item (
	tenant TEXT NOT NULL,
	run TEXT NOT NULL,
	section TEXT NOT NULL,
	id TEXT NOT NULL,
	seq BIGINT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (tenant, run, section, id)
) WITHOUT ROWID;
CREATE TABLE context_checkpoint (
	tenant TEXT NOT NULL,
	run TEXT NOT NULL,
	id TEXT NOT NULL,
	seq BIGINT NOT NULL,
	reason TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	state TEXT NOT NULL,
	PRIMARY KEY (tenant, run, id)
) WITHOUT ROWID;
