-- How often a person decided to keep an older state of a repository: receipts of an earlier era bring nothing back by themselves.
CREATE TABLE repo_older (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	era BIGINT NOT NULL,
	kept_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, repo)
);
-- Heads that a replica was told of and never had, from a server that then became older: while nobody brings them, they are lost.
CREATE TABLE repo_told (
	tenant TEXT NOT NULL,
	repo TEXT NOT NULL,
	operation TEXT NOT NULL,
	version BIGINT NOT NULL,
	told_by TEXT NOT NULL,
	told_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, repo, operation)
);
