-- How often a code was tried with a wrong secret.
ALTER TABLE peer_invite ADD COLUMN guesses BIGINT NOT NULL DEFAULT 0;
