CREATE TABLE session_spent (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	used TEXT NOT NULL,
	PRIMARY KEY (tenant, session)
);
