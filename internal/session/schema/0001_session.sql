CREATE TABLE session (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	title TEXT NOT NULL,
	directory TEXT NOT NULL,
	driver TEXT NOT NULL,
	model TEXT NOT NULL,
	parent TEXT NOT NULL,
	mode TEXT NOT NULL,
	config TEXT NOT NULL,
	todos TEXT NOT NULL,
	owner TEXT NOT NULL,
	chain TEXT NOT NULL,
	archived BIGINT NOT NULL,
	events BIGINT NOT NULL,
	messages BIGINT NOT NULL,
	reverted TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX session_recent ON session (tenant, updated_at);
CREATE INDEX session_parent ON session (tenant, parent) WHERE parent <> '';
CREATE TABLE session_turn (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	session TEXT NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	ask TEXT NOT NULL,
	cancel BIGINT NOT NULL,
	prompt TEXT NOT NULL,
	options TEXT NOT NULL,
	asker TEXT NOT NULL,
	steps BIGINT NOT NULL,
	calls BIGINT NOT NULL,
	attempts BIGINT NOT NULL,
	usage TEXT NOT NULL,
	cost BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	started_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX session_turn_order ON session_turn (tenant, session, id);
CREATE INDEX session_turn_open ON session_turn (state) WHERE ended_at = 0;
CREATE TABLE session_message (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	seq BIGINT NOT NULL,
	id TEXT NOT NULL,
	turn TEXT NOT NULL,
	role TEXT NOT NULL,
	blocks TEXT NOT NULL,
	model TEXT NOT NULL,
	hidden BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, session, seq)
);
CREATE TABLE session_call (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	turn TEXT NOT NULL,
	id TEXT NOT NULL,
	position BIGINT NOT NULL,
	ref TEXT NOT NULL,
	tool TEXT NOT NULL,
	args TEXT NOT NULL,
	title TEXT NOT NULL,
	state TEXT NOT NULL,
	ask TEXT NOT NULL,
	result TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	ended_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX session_call_turn ON session_call (tenant, turn, position);
CREATE TABLE session_event (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	seq BIGINT NOT NULL,
	turn TEXT NOT NULL,
	type TEXT NOT NULL,
	body TEXT NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, session, seq)
);
CREATE TABLE session_part (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	seq BIGINT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (tenant, session, seq)
);
CREATE TABLE session_question (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	session TEXT NOT NULL,
	turn TEXT NOT NULL,
	call TEXT NOT NULL,
	questions TEXT NOT NULL,
	state TEXT NOT NULL,
	answer TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE INDEX session_question_open ON session_question (tenant, state);
CREATE TABLE session_file (
	tenant TEXT NOT NULL,
	session TEXT NOT NULL,
	turn TEXT NOT NULL,
	call TEXT NOT NULL,
	path TEXT NOT NULL,
	existed BIGINT NOT NULL,
	content BLOB NOT NULL,
	at BIGINT NOT NULL,
	PRIMARY KEY (tenant, call, path)
);
CREATE TABLE session_folder (
	tenant TEXT NOT NULL,
	path TEXT NOT NULL,
	read_only BIGINT NOT NULL,
	granted_by TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant, path)
);
CREATE TABLE session_provider (
	tenant TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT NOT NULL,
	base TEXT NOT NULL,
	wire TEXT NOT NULL,
	keyless BIGINT NOT NULL,
	model TEXT NOT NULL,
	PRIMARY KEY (tenant, id)
);
CREATE TABLE session_default (
	tenant TEXT PRIMARY KEY,
	model TEXT NOT NULL
);
