-- Servers that work with the database together. One that works alone has no row here.
CREATE TABLE server_cluster (
	server TEXT PRIMARY KEY,
	cluster TEXT NOT NULL,
	home TEXT NOT NULL
);
-- When somebody had settled what a server left that ended.
ALTER TABLE server ADD COLUMN settled_at BIGINT NOT NULL DEFAULT 0;
