ALTER TABLE peer_outbox ADD COLUMN refused_at BIGINT NOT NULL DEFAULT 0;
UPDATE peer_outbox SET refused_at = created_at WHERE state = 'refused';
