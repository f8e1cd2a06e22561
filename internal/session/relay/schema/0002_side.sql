CREATE TABLE relay_side (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	relay TEXT NOT NULL,
	PRIMARY KEY (tenant, session)
);
