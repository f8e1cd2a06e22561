package db

import (
	"context"
	"time"

	"tandem/internal/fault"
)

// away is how long Begin waits before it tries again.
const away = time.Second

// Begin does what a room does once before it works. While PostgreSQL is away, or takes no changes, it tells that and tries again: a
// server that has begun outlives its database. Everything else that goes wrong is returned.
func (d *DB) Begin(ctx context.Context, told func(error), do func() error) error {
	for {
		err := do()
		if err == nil || ctx.Err() != nil || d.dialect != postgresDialect || fault.KindOf(d.Explain(err)) != fault.Unavailable {
			return err
		}
		told(d.Explain(err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(away):
		}
	}
}
