-- The folders that a leased path lies in, as tags: a lease inside another's folder, or around another's file, is refused.
CREATE TABLE space_lease_above (
	tenant TEXT NOT NULL, space TEXT NOT NULL, tag TEXT NOT NULL, above TEXT NOT NULL,
	PRIMARY KEY (tenant, space, tag, above));
