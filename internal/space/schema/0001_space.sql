CREATE TABLE space (
	tenant TEXT NOT NULL, id TEXT NOT NULL, epoch BIGINT NOT NULL, term BIGINT NOT NULL,
	seq BIGINT NOT NULL, hash TEXT NOT NULL, creator TEXT NOT NULL,
	max_members BIGINT NOT NULL, per_minute BIGINT NOT NULL,
	state TEXT NOT NULL, moved_to TEXT NOT NULL, created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id));
CREATE TABLE space_member (
	tenant TEXT NOT NULL, space TEXT NOT NULL, id TEXT NOT NULL, sign BLOB NOT NULL, box BLOB NOT NULL,
	seq BIGINT NOT NULL, joined_at BIGINT NOT NULL, left_at BIGINT NOT NULL, removed_at BIGINT NOT NULL, seen_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, space, id));
CREATE TABLE space_log (
	tenant TEXT NOT NULL, space TEXT NOT NULL, seq BIGINT NOT NULL, term BIGINT NOT NULL, at BIGINT NOT NULL,
	class TEXT NOT NULL, sender TEXT NOT NULL, env TEXT NOT NULL, envelope TEXT NOT NULL, facts TEXT NOT NULL, hash TEXT NOT NULL,
	PRIMARY KEY (tenant, space, seq));
CREATE UNIQUE INDEX space_log_env ON space_log (tenant, space, env);
CREATE INDEX space_log_rate ON space_log (tenant, space, sender, at);
CREATE TABLE space_invite (
	tenant TEXT NOT NULL, plate TEXT NOT NULL, space TEXT NOT NULL, inviter TEXT NOT NULL,
	state TEXT NOT NULL, expires_at BIGINT NOT NULL, created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, plate));
CREATE TABLE space_lease (
	tenant TEXT NOT NULL, space TEXT NOT NULL, tag TEXT NOT NULL, holder TEXT NOT NULL, until BIGINT NOT NULL, env TEXT NOT NULL,
	PRIMARY KEY (tenant, space, tag));
