CREATE TABLE login (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	server TEXT NOT NULL,
	server_key TEXT NOT NULL,
	person TEXT NOT NULL,
	terminal TEXT NOT NULL,
	taken BIGINT NOT NULL,
	made_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
);
