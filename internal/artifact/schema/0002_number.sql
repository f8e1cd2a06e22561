-- The newest number that a name ever had: it outlives what is removed, so that no number means two things.
CREATE TABLE artifact_number (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	newest BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
);
INSERT INTO artifact_number (tenant, name, newest) SELECT tenant, name, MAX(version) FROM artifact GROUP BY tenant, name;
