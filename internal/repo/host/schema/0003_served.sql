-- A repository by the id it has in its own folder. The name stays with the id, whatever the order in which folders are
-- named; origin is its oldest operation, by which a folder that lost its id is known again.
CREATE TABLE repo_served (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	path TEXT NOT NULL,
	origin TEXT NOT NULL,
	PRIMARY KEY (tenant, id),
	UNIQUE (tenant, name)
);
