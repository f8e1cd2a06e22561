package db

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tandem/internal/fault"
)

// connections is how many are opened to PostgreSQL at most, unless the address
// says otherwise (pool_max_conns).
const connections = 16

// oldest is the first version of PostgreSQL that works, as it numbers itself.
const oldest = 130000

// address is a database's address as it is used.
type address struct {
	conf *pgx.ConnConfig
	most int  // connections
	said bool // the address says how queries are sent

	shared bool // something gives our connections to others in between
}

// readAddress reads what is ours out of an address, and leaves the rest to the
// driver: it knows the names that libpq knows.
func readAddress(dsn string) (*address, error) {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "db", "the database's address cannot be used: "+format, args...).
			WithNext("see what an address may say: docs/postgres.md")
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, bad("it is not of the form postgres://ROLE:PASSWORD@HOST:PORT/DATABASE?…") // the error would show the password
	}
	query := u.Query()
	at := &address{most: connections, said: query.Has("default_query_exec_mode")}
	if said := query.Get("pool_max_conns"); said != "" {
		n, err := strconv.Atoi(said)
		if err != nil || n < 2 || n > 1000 {
			return nil, bad("pool_max_conns is a number from 2 to 1000, not %q", said)
		}
		at.most = n
		query.Del("pool_max_conns")
		u.RawQuery = query.Encode()
	}
	for _, name := range []string{"sslrootcert", "sslcert", "sslkey", "passfile", "servicefile"} {
		if file := query.Get(name); file != "" && file != "system" && !filepath.IsAbs(file) {
			return nil, bad("%s is %q, and the server starts in a folder of its own: name the file by its absolute path", name, file)
		}
	}
	if at.conf, err = pgx.ParseConfig(u.String()); err != nil {
		return nil, bad("%w", err)
	}
	return at, nil
}

// meet connects once, refuses a server that cannot be used, and finds out
// whether something shares its connections among us. PgBouncer gives a number
// of its own to each of its connections; PostgreSQL that of the process. A
// statement is then never prepared under a name: the next one may go elsewhere.
func (at *address) meet(ctx context.Context) error {
	c, err := pgx.ConnectConfig(ctx, at.conf)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was changed on it
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "08P01" {
			return fault.New(fault.Unavailable, "db",
				"what stands before PostgreSQL lets nobody begin a transaction; PgBouncer does so in statement mode: %w", err).
				WithNext("use pool_mode transaction or session for this database: each change here is a transaction")
		}
		return err
	}
	var process uint32
	var version int
	var encoding string
	err = c.QueryRow(ctx, "SELECT pg_backend_pid(), current_setting('server_version_num')::int, current_setting('server_encoding')",
		pgx.QueryExecModeExec).Scan(&process, &version, &encoding)
	switch {
	case err != nil:
		return err
	case version < oldest:
		return fault.New(fault.Unavailable, "db", "PostgreSQL %d is older than tandem works with", version/10000).
			WithNext("use PostgreSQL 13 or newer")
	case encoding != "UTF8":
		return fault.New(fault.Unavailable, "db", "the database keeps text as %s, and tandem's is UTF-8", encoding).
			WithNext("make one that does: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0")
	}
	if at.shared = process != c.PgConn().PID(); at.shared && !at.said {
		at.conf.DefaultQueryExecMode = pgx.QueryExecModeExec
		at.conf.StatementCacheCapacity, at.conf.DescriptionCacheCapacity = 0, 0
	}
	return nil
}
