-- Whose a bookmark or tag is: of the one who pushed it first. One that nobody pushed is the server's own.
CREATE TABLE repo_ref (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	actor TEXT NOT NULL,
	actor_name TEXT NOT NULL,
	PRIMARY KEY (tenant, repo, kind, name)
);
