-- The latest time that anybody was told by this installation. What had ended by then has ended, whatever a clock says later.
CREATE TABLE installation_clock (
	one BIGINT PRIMARY KEY,
	seen_at BIGINT NOT NULL
);
