CREATE TABLE repo_workspace (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	name TEXT NOT NULL,
	actor TEXT NOT NULL,
	actor_name TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, repo, name)
);
