-- What ended a turn, where a program acts on it. It was told from the words of its reason.
ALTER TABLE session_turn ADD COLUMN cause TEXT NOT NULL DEFAULT '';
UPDATE session_turn SET cause = 'circling'
	WHERE state = 'failed' AND reason LIKE 'the agent called % times with the same arguments and the same result';
