CREATE TABLE peer_entry (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, seq BIGINT NOT NULL, env TEXT NOT NULL, class TEXT NOT NULL, sender TEXT NOT NULL, recipient TEXT NOT NULL,
	at BIGINT NOT NULL, entry TEXT NOT NULL, content BLOB, surfaced_at BIGINT NOT NULL, read_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, seat, seq));
INSERT INTO peer_entry (tenant, seat, seq, env, class, sender, recipient, at, entry, content, surfaced_at, read_at)
	SELECT l.tenant, l.seat, l.seq, l.env, coalesce(n.class, ''), coalesce(n.sender, ''), coalesce(n.recipient, ''), coalesce(n.at, 0), l.entry, n.content,
	CASE WHEN n.class = 'message' THEN n.surfaced_at ELSE 1 END, CASE WHEN n.class = 'message' THEN n.read_at ELSE 1 END
	FROM peer_log l LEFT JOIN peer_note n ON n.tenant = l.tenant AND n.seat = l.seat AND n.seq = l.seq;
CREATE TABLE peer_said (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, env TEXT NOT NULL, seq BIGINT NOT NULL, recipient TEXT NOT NULL,
	PRIMARY KEY (tenant, seat, env));
INSERT INTO peer_said (tenant, seat, env, seq, recipient) SELECT tenant, seat, env, seq, recipient FROM peer_note WHERE class = 'message' AND read_at = at;
DROP TABLE peer_note;
DROP TABLE peer_log;
