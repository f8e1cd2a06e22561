-- What a program is given: its folder, its environment, and the names of what is sealed for it.
ALTER TABLE connector ADD COLUMN given TEXT NOT NULL DEFAULT '{}';
