package db

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"tandem/internal/fault"
)

// refusals are what PostgreSQL, or what stands before it, says no to because of how it was set up: by the code of its answer, what
// that means here and what to do. docs/postgres.md has the same list.
var refusals = map[string]struct{ what, next string }{
	"25006": {"PostgreSQL takes no changes: it is a standby, or was set read-only; nothing was changed",
		"name the server that takes changes: tandem up --database postgres://…"},
	"42501": {"the role of this database address may not do that; nothing was changed", forRole},
	"42P01": {"this database does not have tandem's tables, and its role may not make them; nothing was changed", forRole},
	"42P05": {"something between here and PostgreSQL gives each statement another connection, and did not show that it is there", forPooler},
	"26000": {"something between here and PostgreSQL gives each statement another connection, and did not show that it is there", forPooler},
	"57014": {"PostgreSQL ended a statement because it took longer than statement_timeout allows; nothing was changed",
		"give the role more time: ALTER ROLE the role SET statement_timeout = '30s'"},
	"25P03": {"PostgreSQL ended a connection because of idle_in_transaction_session_timeout; nothing was changed",
		"give the role more time: ALTER ROLE the role SET idle_in_transaction_session_timeout = '1min'"},
	"55P03": {"another program locked what was to be changed for longer than lock_timeout allows; nothing was changed",
		"look which one it is (pg_stat_activity), then try again"},
	"53300": {"PostgreSQL has no connection left for this role", "raise the limit of the role, the database or the server " +
		"(ALTER ROLE the role CONNECTION LIMIT 16), or close what uses them up"},
	"28P01": {"PostgreSQL does not take the role and password of this database address",
		"check both: tandem up --database postgres://ROLE:PASSWORD@…"},
	"28000": {"PostgreSQL lets this role in neither from here nor in this way (pg_hba.conf, TLS)",
		"check the role, the address it comes from and sslmode, then: tandem up --database postgres://…"},
	"3D000": {"there is no such database", "make it (CREATE DATABASE name OWNER role ENCODING 'UTF8'), or check the address"},
}

const forRole = "let it make tables in its schema: GRANT CREATE, USAGE ON SCHEMA public TO the role; " +
	"or make them with the role that owns them: tandem server migrate --database postgres://OWNER@… --for ROLE"

const forPooler = "add default_query_exec_mode=exec to the address: " +
	"tandem up --database 'postgres://…?default_query_exec_mode=exec'; or use session mode"

// refused explains an answer that says no; nil when there is nothing to explain.
func refused(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return nil
	}
	r, ok := refusals[pg.Code]
	var dial *pgconn.ConnectError
	if pg.Code == "08P01" && errors.As(err, &dial) {
		r.what, ok = "what stands before PostgreSQL, such as PgBouncer, refused the connection", true
		r.next = "if it names a parameter, take that out of the address or into ignore_startup_parameters; " +
			"if it has no connection left, raise max_client_conn and pool_size"
	}
	if !ok {
		return nil
	}
	return fault.New(fault.Unavailable, "db", r.what+": %w", err).WithNext("%s", r.next)
}

// denied says whether a role may not do what it was to do.
func denied(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "42501"
}
