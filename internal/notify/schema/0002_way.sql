CREATE TABLE notice_way (
	channel TEXT NOT NULL,
	due BIGINT NOT NULL,
	notice TEXT NOT NULL,
	tenant TEXT NOT NULL,
	tries BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (channel, due, notice)
) WITHOUT ROWID;
INSERT INTO notice_way (channel, due, notice, tenant, tries, created_at, body)
	SELECT s.channel, s.due, s.notice, s.tenant, s.tries, o.created_at, o.body
	FROM notice_send s JOIN notice o ON o.tenant = s.tenant AND o.id = s.notice;
DROP TABLE notice_send;
DROP TABLE notice;
