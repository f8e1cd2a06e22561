-- Which server runs a turn, while it runs.
ALTER TABLE session_turn ADD COLUMN server TEXT NOT NULL DEFAULT '';
-- Which of a cluster's machines has the folder, by the home of its server; '' for the first.
ALTER TABLE session_look ADD COLUMN home TEXT NOT NULL DEFAULT '';
