-- The entry that made somebody a member: when a space's creator is gone, the member who has been there longest may remove others.
ALTER TABLE space_member ADD COLUMN place BIGINT NOT NULL DEFAULT 0;
