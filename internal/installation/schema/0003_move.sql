-- Of a database that is no house, or was not one for a moment: its rows are on their way to another one ('from'), or arrived under a
-- number that the data folder knows once it has changed over to them ('to' and the number).
CREATE TABLE installation_move (
	one BIGINT PRIMARY KEY,
	mark TEXT NOT NULL,
	other TEXT NOT NULL,
	at BIGINT NOT NULL
);
