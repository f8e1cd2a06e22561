CREATE INDEX session_owner ON session (tenant, owner);
