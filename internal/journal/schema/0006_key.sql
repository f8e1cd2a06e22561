-- The keys that signed this journal, once its first was replaced: each with the size up to which it counts, 0 for the present one.
CREATE TABLE journal_key (
	public TEXT PRIMARY KEY,
	to_size BIGINT NOT NULL,
	since BIGINT NOT NULL
);
