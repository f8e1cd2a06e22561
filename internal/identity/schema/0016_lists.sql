-- who acts for somebody, what answers for somebody and by which tokens somebody comes, in houses of ten thousand people
CREATE INDEX actor_for ON actor (tenant, acts_for);
CREATE INDEX device_actor ON device (tenant, actor);
CREATE INDEX token_actor ON token (tenant, actor);
CREATE INDEX signin_newest ON signin (tenant, kind, created_at);
