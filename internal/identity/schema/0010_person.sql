-- whom an invitation is for, when it is for a person and not for a machine
ALTER TABLE invite ADD COLUMN person TEXT NOT NULL DEFAULT '';
