-- what the house lets a tenant use up, as JSON; empty is no limit
ALTER TABLE tenant ADD COLUMN limits TEXT NOT NULL DEFAULT '';
