CREATE TABLE terminal_program (
	tenant TEXT NOT NULL,
	agent TEXT NOT NULL,
	version TEXT NOT NULL,
	signals TEXT NOT NULL,
	checked_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, agent, version)
);
