-- What a turn or a call waits for: approval, question or task. It was told from the beginning of the id in ask.
ALTER TABLE session_turn ADD COLUMN awaits TEXT NOT NULL DEFAULT '';
ALTER TABLE session_call ADD COLUMN awaits TEXT NOT NULL DEFAULT '';
UPDATE session_turn SET awaits = CASE substr(ask, 1, 4) WHEN 'que_' THEN 'question' WHEN 'turn' THEN 'task' ELSE 'approval' END
	WHERE ended_at = 0 AND ask <> '';
UPDATE session_call SET awaits = CASE substr(ask, 1, 4) WHEN 'que_' THEN 'question' WHEN 'turn' THEN 'task' ELSE 'approval' END
	WHERE state NOT IN ('done', 'failed') AND ask <> '';
