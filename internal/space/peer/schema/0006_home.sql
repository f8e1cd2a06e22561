-- Which of a cluster's servers has the seat, by its home; '' for the first.
ALTER TABLE peer_seat ADD COLUMN home TEXT NOT NULL DEFAULT '';
