-- the key with which this machine answers for its person there: its id and the server's identity, and the key sealed under the PIN
ALTER TABLE login ADD COLUMN device TEXT NOT NULL DEFAULT '';
ALTER TABLE login ADD COLUMN server_id TEXT NOT NULL DEFAULT '';
ALTER TABLE login ADD COLUMN sealed_key TEXT NOT NULL DEFAULT '';
