CREATE TABLE session_aside (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	session TEXT NOT NULL,
	turn TEXT NOT NULL,
	folder TEXT NOT NULL,
	path TEXT NOT NULL,
	what TEXT NOT NULL,
	mode BIGINT NOT NULL,
	size BIGINT NOT NULL,
	sum TEXT NOT NULL,
	held BIGINT NOT NULL,
	state TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	decided_by TEXT NOT NULL,
	decided_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX session_aside_state ON session_aside (tenant, state, session);
CREATE TABLE session_look (
	tenant TEXT NOT NULL,
	work TEXT NOT NULL,
	session TEXT NOT NULL,
	folder TEXT NOT NULL,
	known TEXT NOT NULL,
	PRIMARY KEY (tenant, work, folder)
);
