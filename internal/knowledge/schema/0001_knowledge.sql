CREATE TABLE knowledge_number (
	tenant TEXT PRIMARY KEY,
	last BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE knowledge (
	tenant TEXT NOT NULL,
	name TEXT NOT NULL,
	nr BIGINT NOT NULL,
	purpose TEXT NOT NULL,
	owners TEXT NOT NULL,
	readers TEXT NOT NULL,
	trust TEXT NOT NULL,
	days BIGINT NOT NULL,
	texts BIGINT NOT NULL,
	length BIGINT NOT NULL,
	made_at BIGINT NOT NULL,
	changed_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE TABLE knowledge_item (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	nr BIGINT NOT NULL,
	place BIGINT NOT NULL,
	title TEXT NOT NULL,
	summary TEXT NOT NULL,
	body TEXT NOT NULL,
	covers TEXT NOT NULL,
	dedupe TEXT NOT NULL,
	sources TEXT NOT NULL,
	digest TEXT NOT NULL,
	state TEXT NOT NULL,
	author TEXT NOT NULL,
	actor TEXT NOT NULL,
	done_by TEXT NOT NULL,
	reason TEXT NOT NULL,
	days BIGINT NOT NULL,
	version BIGINT NOT NULL,
	replaced_by TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	looked_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX knowledge_item_nr ON knowledge_item (tenant, nr);
CREATE INDEX knowledge_item_place ON knowledge_item (tenant, place, state, id);
CREATE INDEX knowledge_item_actor ON knowledge_item (tenant, actor, state);
CREATE TABLE knowledge_posting (
	tenant TEXT NOT NULL,
	term BLOB NOT NULL,
	place BIGINT NOT NULL,
	nr BIGINT NOT NULL,
	often BIGINT NOT NULL,
	length BIGINT NOT NULL,
	spots TEXT NOT NULL,
	PRIMARY KEY (tenant, term, place, nr)
) WITHOUT ROWID;
CREATE INDEX knowledge_posting_nr ON knowledge_posting (tenant, nr);
