ALTER TABLE journal_seal ADD COLUMN chain BLOB;
CREATE INDEX journal_seal_chain ON journal_seal (seq) WHERE chain IS NOT NULL;
