CREATE TABLE pack (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	digest TEXT NOT NULL,
	body TEXT NOT NULL,
	grants TEXT NOT NULL,
	by_name TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
);
