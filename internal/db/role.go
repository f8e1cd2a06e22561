package db

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"tandem/internal/fault"
)

// Allow lets another role of PostgreSQL work with the rooms' tables, and not
// change what they are.
func (d *DB) Allow(ctx context.Context, role string, rooms ...Migrations) error {
	if d.dialect != postgresDialect {
		return fault.New(fault.Invalid, "db", "only PostgreSQL knows roles").WithNext("leave --for out")
	}
	names, err := tables(rooms, nil)
	if err != nil {
		return err
	}
	to := " TO " + pgx.Identifier{role}.Sanitize()
	return d.Write(ctx, func(tx *Tx) error {
		var schema string
		if err := tx.QueryRow("SELECT current_schema()").Scan(&schema); err != nil {
			return err
		}
		all := []string{"GRANT USAGE ON SCHEMA " + pgx.Identifier{schema}.Sanitize() + to, "GRANT SELECT ON schema_version" + to}
		for _, name := range names {
			all = append(all, "GRANT SELECT, INSERT, UPDATE, DELETE ON "+name+to)
		}
		for _, q := range all {
			if _, err := tx.Exec(q); err != nil {
				return unknownRole(role, err)
			}
		}
		return nil
	})
}

func unknownRole(role string, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "42704" {
		return err
	}
	return fault.New(fault.NotFound, "db", "PostgreSQL has no role %s", role).WithNext("make it: CREATE ROLE name LOGIN")
}

// Unhurried lets a transaction that reads or writes everything take as long as
// that takes, whatever time-outs the role has.
func (t *Tx) Unhurried() error {
	if t.dialect != postgresDialect {
		return nil
	}
	_, err := t.Exec("SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN " +
		"('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')")
	return err
}
