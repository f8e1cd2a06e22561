CREATE TABLE team (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	state TEXT NOT NULL,
	body TEXT NOT NULL,
	home TEXT NOT NULL,
	fence BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX team_state ON team (state);
