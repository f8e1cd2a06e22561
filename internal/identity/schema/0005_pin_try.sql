ALTER TABLE pin ADD COLUMN is_long BIGINT NOT NULL DEFAULT 0;
CREATE TABLE pin_try (
	tenant TEXT NOT NULL,
	actor TEXT NOT NULL,
	caller TEXT NOT NULL,
	wrong BIGINT NOT NULL,
	wait_until BIGINT NOT NULL,
	tried_at BIGINT NOT NULL,
	proven_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, actor, caller)
);
