-- A path of a repository that a workspace has leased: others change it only when a person lets them.
CREATE TABLE repo_lease (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	id TEXT NOT NULL,
	path TEXT NOT NULL,
	workspace TEXT NOT NULL,
	actor TEXT NOT NULL,
	actor_name TEXT NOT NULL,
	until BIGINT NOT NULL,
	PRIMARY KEY (tenant, repo, id)
);
-- What a person let through: this very content of this file, by this actor, past this lease.
CREATE TABLE repo_crossing (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	lease TEXT NOT NULL,
	actor TEXT NOT NULL,
	path TEXT NOT NULL,
	content TEXT NOT NULL,
	PRIMARY KEY (tenant, repo, lease, actor, path, content)
);
-- What a holder is to hear. The mark keeps one deed from being told twice.
CREATE TABLE repo_heard (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	id TEXT NOT NULL,
	workspace TEXT NOT NULL,
	mark TEXT NOT NULL,
	text TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, repo, id),
	UNIQUE (tenant, repo, mark)
);
