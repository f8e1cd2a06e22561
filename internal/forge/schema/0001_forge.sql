CREATE TABLE forge (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	url TEXT NOT NULL,
	repo TEXT NOT NULL,
	inside BIGINT NOT NULL,
	secret TEXT NOT NULL,
	by_name TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
);

CREATE TABLE forge_pull (
	tenant TEXT NOT NULL,
	job TEXT NOT NULL,
	forge TEXT NOT NULL,
	state TEXT NOT NULL,
	home TEXT NOT NULL,
	body TEXT NOT NULL,
	looked_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, job)
);
