-- Whose record a value is kept out of: all, own (of whoever set it) or none. Those from before were kept out of all.
ALTER TABLE secret ADD COLUMN struck TEXT NOT NULL DEFAULT 'all';
