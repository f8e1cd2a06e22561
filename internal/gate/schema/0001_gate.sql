CREATE TABLE gate_call (
	tenant TEXT NOT NULL,
	actor TEXT NOT NULL,
	key TEXT NOT NULL,
	op TEXT NOT NULL,
	digest TEXT NOT NULL,
	state TEXT NOT NULL,
	answer TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, actor, key)
);
CREATE INDEX gate_call_age ON gate_call (created_at);
CREATE TABLE gate_intent (
	seq BIGINT PRIMARY KEY,
	tenant TEXT NOT NULL,
	op TEXT NOT NULL,
	caller TEXT NOT NULL,
	input TEXT NOT NULL,
	key TEXT NOT NULL
);
