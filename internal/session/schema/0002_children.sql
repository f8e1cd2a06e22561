CREATE TABLE session_child (
	tenant TEXT NOT NULL,
	call TEXT NOT NULL,
	parent TEXT NOT NULL,
	session TEXT NOT NULL,
	turn TEXT NOT NULL,
	PRIMARY KEY (tenant, call)
);
CREATE INDEX session_child_session ON session_child (tenant, session);
CREATE INDEX session_child_turn ON session_child (tenant, turn);
CREATE INDEX session_child_parent ON session_child (tenant, parent);
ALTER TABLE session_turn ADD COLUMN ran BIGINT NOT NULL DEFAULT 0;
ALTER TABLE session_turn ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
CREATE TABLE session_limit (
	tenant TEXT NOT NULL,
	subject TEXT NOT NULL,
	period TEXT NOT NULL,
	budget TEXT NOT NULL,
	set_by TEXT NOT NULL,
	set_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, subject, period)
);
CREATE TABLE session_used (
	tenant TEXT NOT NULL,
	subject TEXT NOT NULL,
	day BIGINT NOT NULL,
	tokens BIGINT NOT NULL,
	cost BIGINT NOT NULL,
	turns BIGINT NOT NULL,
	calls BIGINT NOT NULL,
	micros BIGINT NOT NULL,
	PRIMARY KEY (tenant, subject, day)
);
