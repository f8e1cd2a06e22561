-- Several members may share a lease: a row for each holder, no longer one for each path.
CREATE TABLE space_lease_of (
	tenant TEXT NOT NULL, space TEXT NOT NULL, tag TEXT NOT NULL, holder TEXT NOT NULL, shared BIGINT NOT NULL, until BIGINT NOT NULL,
	env TEXT NOT NULL,
	PRIMARY KEY (tenant, space, tag, holder));
INSERT INTO space_lease_of (tenant, space, tag, holder, shared, until, env) SELECT tenant, space, tag, holder, 0, until, env FROM space_lease;
DROP TABLE space_lease;
ALTER TABLE space_lease_of RENAME TO space_lease;
