CREATE TABLE board_task (
	tenant TEXT NOT NULL, space TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL,
	creator TEXT NOT NULL, holder TEXT NOT NULL, stuck BIGINT NOT NULL, until BIGINT NOT NULL, version BIGINT NOT NULL,
	created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, space, id));
CREATE INDEX board_task_until ON board_task (until);
CREATE TABLE board_need (
	tenant TEXT NOT NULL, space TEXT NOT NULL, task TEXT NOT NULL, need TEXT NOT NULL, ord BIGINT NOT NULL,
	PRIMARY KEY (tenant, space, task, need));
CREATE INDEX board_need_back ON board_need (tenant, space, need);
