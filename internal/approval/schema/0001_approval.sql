CREATE TABLE approval (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	state TEXT NOT NULL,
	standing BIGINT NOT NULL,
	op TEXT NOT NULL,
	resource TEXT NOT NULL,
	digest TEXT NOT NULL,
	input TEXT NOT NULL,
	asker_id TEXT NOT NULL,
	asker TEXT NOT NULL,
	asker_kind TEXT NOT NULL,
	acts_for TEXT NOT NULL,
	session TEXT NOT NULL,
	reason TEXT NOT NULL,
	decided_by_policy TEXT NOT NULL,
	approvers TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	decided_at BIGINT NOT NULL,
	decided_by TEXT NOT NULL,
	feedback TEXT NOT NULL,
	spent_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX approval_standing ON approval (tenant, asker_id, digest) WHERE standing = 1;
CREATE INDEX approval_inbox ON approval (tenant, state, id);
CREATE INDEX approval_expiry ON approval (expires_at) WHERE standing = 1;
