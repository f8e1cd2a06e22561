-- A space's sealed entries are kept once for all seats of this machine that have the same history, which is a line; they part only where
-- a host of a later term goes on from before their last entry. What a seat has of its own is where it joined, how far it came, its keys,
-- and a mark for each message that reached its agent. A message to it without a mark is unread. Its words are opened from the entry.
ALTER TABLE peer_seat ADD COLUMN line TEXT NOT NULL DEFAULT '';
CREATE TABLE peer_log (
	tenant TEXT NOT NULL, space TEXT NOT NULL, line TEXT NOT NULL, seq BIGINT NOT NULL, hash TEXT NOT NULL, env TEXT NOT NULL, class TEXT NOT NULL,
	sender TEXT NOT NULL, recipient TEXT NOT NULL, at BIGINT NOT NULL, entry TEXT NOT NULL,
	PRIMARY KEY (tenant, space, line, seq));
CREATE INDEX peer_log_env ON peer_log (tenant, space, line, env);
CREATE TABLE peer_mark (
	tenant TEXT NOT NULL, seat TEXT NOT NULL, seq BIGINT NOT NULL, surfaced_at BIGINT NOT NULL, read_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, seat, seq));
-- Of the copies that have a seat's last entry, and so all before it, the longest is its line.
UPDATE peer_seat SET line = coalesce((SELECT p.id FROM peer_seat p
	WHERE p.tenant = peer_seat.tenant AND p.space = peer_seat.space AND EXISTS (SELECT 1 FROM peer_entry a JOIN peer_entry b
		ON b.tenant = a.tenant AND b.seat = p.id AND b.seq = a.seq AND b.entry = a.entry
		WHERE a.tenant = peer_seat.tenant AND a.seat = peer_seat.id
		AND a.seq = (SELECT max(m.seq) FROM peer_entry m WHERE m.tenant = peer_seat.tenant AND m.seat = peer_seat.id))
	ORDER BY (SELECT max(m.seq) FROM peer_entry m WHERE m.tenant = p.tenant AND m.seat = p.id) DESC, p.id LIMIT 1), '');
-- The hash is the last field of an entry.
INSERT INTO peer_log (tenant, space, line, seq, hash, env, class, sender, recipient, at, entry)
	SELECT e.tenant, s.space, s.line, e.seq, substr(e.entry, length(e.entry) - 65, 64), e.env, e.class, e.sender, e.recipient, e.at, e.entry
	FROM peer_entry e JOIN peer_seat s ON s.tenant = e.tenant AND s.id = e.seat WHERE s.line = s.id;
-- The first releases kept class and sender only with the words: whoever could open them knows.
UPDATE peer_log SET
	class = coalesce((SELECT max(e.class) FROM peer_seat s JOIN peer_entry e ON e.tenant = s.tenant AND e.seat = s.id
		WHERE s.tenant = peer_log.tenant AND s.space = peer_log.space AND e.seq = peer_log.seq AND e.entry = peer_log.entry), ''),
	sender = coalesce((SELECT max(e.sender) FROM peer_seat s JOIN peer_entry e ON e.tenant = s.tenant AND e.seat = s.id
		WHERE s.tenant = peer_log.tenant AND s.space = peer_log.space AND e.seq = peer_log.seq AND e.entry = peer_log.entry), ''),
	recipient = coalesce((SELECT max(e.recipient) FROM peer_seat s JOIN peer_entry e ON e.tenant = s.tenant AND e.seat = s.id
		WHERE s.tenant = peer_log.tenant AND s.space = peer_log.space AND e.seq = peer_log.seq AND e.entry = peer_log.entry), ''),
	at = coalesce((SELECT max(e.at) FROM peer_seat s JOIN peer_entry e ON e.tenant = s.tenant AND e.seat = s.id
		WHERE s.tenant = peer_log.tenant AND s.space = peer_log.space AND e.seq = peer_log.seq AND e.entry = peer_log.entry), 0)
	WHERE class = '';
-- A message that did not open counted as read.
INSERT INTO peer_mark (tenant, seat, seq, surfaced_at, read_at)
	SELECT e.tenant, e.seat, e.seq, e.surfaced_at, e.read_at FROM peer_entry e JOIN peer_seat s ON s.tenant = e.tenant AND s.id = e.seat
	WHERE e.seq > s.joined_seq AND (e.surfaced_at <> 0 OR e.read_at <> 0)
	AND (e.class = 'message' OR e.content IS NULL AND e.entry LIKE '%"class":"message"%');
DROP TABLE peer_entry;
