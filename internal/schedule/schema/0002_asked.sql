-- asked_at is when a person last had it done at once; 0 for never.
ALTER TABLE schedule ADD COLUMN asked_at BIGINT NOT NULL DEFAULT 0;
