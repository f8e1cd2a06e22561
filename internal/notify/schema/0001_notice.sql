CREATE TABLE notice (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	body TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE TABLE notice_send (
	tenant TEXT NOT NULL,
	notice TEXT NOT NULL,
	channel TEXT NOT NULL,
	tries BIGINT NOT NULL,
	due BIGINT NOT NULL,
	PRIMARY KEY (tenant, notice, channel)
);
CREATE INDEX notice_send_due ON notice_send (channel, due);
