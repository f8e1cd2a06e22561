CREATE TABLE tunnel (
	tenant TEXT NOT NULL,
	state TEXT NOT NULL,
	body TEXT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant)
);
