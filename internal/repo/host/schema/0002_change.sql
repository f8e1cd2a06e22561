CREATE TABLE repo_change (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	change_id TEXT NOT NULL,
	actor TEXT NOT NULL,
	actor_name TEXT NOT NULL,
	PRIMARY KEY (tenant, repo, change_id)
);
