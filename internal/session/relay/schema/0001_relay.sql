CREATE TABLE relay (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	status TEXT NOT NULL,
	body TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX relay_open ON relay (status);
CREATE TABLE relay_log (
	tenant TEXT NOT NULL,
	relay TEXT NOT NULL,
	step BIGINT NOT NULL,
	task BIGINT NOT NULL,
	role TEXT NOT NULL,
	turn TEXT NOT NULL,
	text TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, relay, step)
);
