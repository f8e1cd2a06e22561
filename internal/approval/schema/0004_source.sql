-- where an asker comes from whom nobody knows yet
ALTER TABLE approval ADD COLUMN source TEXT NOT NULL DEFAULT '';
