-- A shared lease lets others have one, too; only who has none is kept off.
ALTER TABLE repo_lease ADD COLUMN shared BIGINT NOT NULL DEFAULT 0;
