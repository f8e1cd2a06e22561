CREATE TABLE session_undone (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	path TEXT NOT NULL,
	existed BIGINT NOT NULL,
	content BLOB NOT NULL,
	left_existed BIGINT NOT NULL,
	left_content BLOB NOT NULL,
	PRIMARY KEY (tenant, session, path)
);
