CREATE TABLE automation_hook (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	trigger_id TEXT NOT NULL,
	id TEXT NOT NULL,
	key_hash TEXT NOT NULL,
	made_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	accepted BIGINT NOT NULL,
	refused BIGINT NOT NULL,
	PRIMARY KEY (tenant, name, trigger_id)
);
CREATE UNIQUE INDEX automation_hook_key ON automation_hook (key_hash);

CREATE TABLE automation_delivery (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	hook TEXT NOT NULL,
	trigger_id TEXT NOT NULL,
	sender TEXT NOT NULL,
	mark TEXT NOT NULL,
	kind TEXT NOT NULL,
	body TEXT NOT NULL,
	run TEXT NOT NULL,
	why TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX automation_delivery_mark ON automation_delivery (tenant, hook, mark);
CREATE INDEX automation_delivery_sender ON automation_delivery (tenant, hook, sender);
