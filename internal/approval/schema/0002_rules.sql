ALTER TABLE approval ADD COLUMN always TEXT NOT NULL DEFAULT '';
CREATE TABLE approval_rule (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	scope TEXT NOT NULL,
	session TEXT NOT NULL,
	acts_for TEXT NOT NULL,
	op TEXT NOT NULL,
	pattern TEXT NOT NULL,
	made_by TEXT NOT NULL,
	ask TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX approval_rule_session ON approval_rule (tenant, session);
