CREATE TABLE connector (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	url TEXT NOT NULL,
	command TEXT NOT NULL,
	network BIGINT NOT NULL,
	header TEXT NOT NULL,
	allow TEXT NOT NULL,
	enabled BIGINT NOT NULL,
	state TEXT NOT NULL,
	tools TEXT NOT NULL,
	accepted TEXT NOT NULL,
	failure TEXT NOT NULL,
	added_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	synced_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
);
