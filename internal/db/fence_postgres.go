package db

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"tandem/internal/id"
)

// named gives the connections of this process a name of their own.
func (at *address) named() string {
	link := fmt.Sprintf("%.30s %s", cmp.Or(at.conf.RuntimeParams["application_name"], "tandem"), id.New("lnk"))
	at.conf.RuntimeParams["application_name"] = link
	return link
}

// fencedConnector makes connections whose transactions look at the fence.
type fencedConnector struct {
	driver.Connector
	fence  *fence
	always bool // something may share the connections among us: those of another process cannot be told apart for long
}

func (c fencedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &fencedConn{Conn: conn.(*stdlib.Conn), fence: c.fence, always: c.always}, nil
}

type fencedConn struct {
	*stdlib.Conn
	fence  *fence
	always bool
	looked time.Time // zero before the first time
}

// sure is how long a connection that looked at the fence does not look again: whoever takes over ends it. It looks again all the same,
// for a server that slept and whose connections could not be ended.
const sure = time.Second

// due says whether it is time to look, by the clock that stands still while the machine sleeps and by the one that is set.
func (c *fencedConn) due(now time.Time) bool {
	apart := now.Round(0).Sub(c.looked.Round(0))
	return c.always || c.looked.IsZero() || now.Sub(c.looked) > sure || apart > sure || apart < 0
}

// BeginTx begins, and looks at the fence when that is due: one message to PostgreSQL, as beginning alone would be.
func (c *fencedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	set, now := c.fence.set.Load(), time.Now()
	if set == nil || opts.ReadOnly || !c.due(now) {
		return c.Conn.BeginTx(ctx, opts)
	}
	conn := c.Conn.Conn()
	if conn.IsClosed() {
		return nil, driver.ErrBadConn
	}
	tag, err := conn.Exec(ctx, "begin; "+set.Live)
	tx := fencedTx{ctx, conn}
	switch {
	case err != nil:
		tx.Rollback() //nolint:errcheck // what went wrong first is told
		return nil, err
	case tag.RowsAffected() != 1:
		tx.Rollback() //nolint:errcheck // nothing was done
		return nil, c.fence.refuse(set)
	}
	c.looked = now
	return tx, nil
}

type fencedTx struct {
	ctx  context.Context
	conn *pgx.Conn
}

func (t fencedTx) Commit() error {
	tag, err := t.conn.Exec(t.ctx, "commit")
	if err == nil && tag.String() == "ROLLBACK" { // a statement had failed, and nobody said so
		err = pgx.ErrTxCommitRollback
	}
	return t.done(err)
}

func (t fencedTx) Rollback() error {
	_, err := t.conn.Exec(t.ctx, "rollback")
	return t.done(err)
}

// done closes a connection on which nobody knows what became of the transaction.
func (t fencedTx) done(err error) error {
	if t.conn.PgConn().TxStatus() != 'I' {
		t.conn.Close(t.ctx) //nolint:errcheck // it is of no use any more
	}
	return err
}
