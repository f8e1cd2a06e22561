CREATE TABLE knowledge_read (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	item TEXT NOT NULL,
	read_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, session, item)
) WITHOUT ROWID;
CREATE INDEX knowledge_read_item ON knowledge_read (tenant, item);
