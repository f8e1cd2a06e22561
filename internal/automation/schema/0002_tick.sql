CREATE TABLE automation_trigger (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	trigger_id TEXT NOT NULL,
	since_at BIGINT NOT NULL,
	next_at BIGINT NOT NULL,
	made_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name, trigger_id)
);

CREATE TABLE automation_tick (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	trigger_id TEXT NOT NULL,
	due_at BIGINT NOT NULL,
	last_at BIGINT NOT NULL,
	count BIGINT NOT NULL,
	run TEXT NOT NULL,
	why TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX automation_tick_name ON automation_tick (tenant, name, id);
