-- a tenant beside the house's own: whether it is open, and who made it
ALTER TABLE tenant ADD COLUMN state TEXT NOT NULL DEFAULT 'active';
ALTER TABLE tenant ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE tenant ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE tenant ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX tenant_name ON tenant (name);
