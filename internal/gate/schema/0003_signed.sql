-- What the house says of an intent: without it nothing is finished after a crash.
ALTER TABLE gate_intent ADD COLUMN sig BLOB;
