CREATE TABLE terminal (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	name TEXT NOT NULL,
	relay TEXT NOT NULL,
	body TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	closed_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, session)
);
CREATE UNIQUE INDEX terminal_name ON terminal (tenant, name) WHERE closed_at = 0;
