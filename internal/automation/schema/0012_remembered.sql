CREATE TABLE automation_remembered (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	hook TEXT NOT NULL,
	part BIGINT NOT NULL,
	marks BLOB NOT NULL,
	PRIMARY KEY (tenant, hook, part)
);
ALTER TABLE automation_hook ADD COLUMN remembered BIGINT NOT NULL DEFAULT 0;
