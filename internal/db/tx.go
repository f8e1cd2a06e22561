package db

import (
	"context"
	"database/sql"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// runner is what a transaction runs statements on: a real *sql.Tx, or the
// SQLite writer's connection with its prepared statements.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Tx is one transaction. It is used by one goroutine, inside Write or Read.
type Tx struct {
	ctx     context.Context
	run     runner
	dialect dialect
	now     time.Time
	ended   time.Time
	after   []func()
}

// Now is the transaction's time: every row of one change has one timestamp.
func (t *Tx) Now() time.Time { return t.now }

// Ended is the time by which others may take what has ended. It is Now, unless the machine's clock was set a moment ago: then what has
// ended by Now is refused, and only what has ended by Ended may be removed or given to somebody else.
func (t *Tx) Ended() time.Time { return t.ended }

func newTx(ctx context.Context, run runner, d dialect, c *clock) *Tx {
	now, ended := c.times()
	return &Tx{ctx: ctx, run: run, dialect: d, now: now, ended: ended}
}

// Context carries the caller of the write that the transaction belongs to.
func (t *Tx) Context() context.Context { return t.ctx }

// call runs the caller's function; a panic in it is an error of that caller
// alone.
func (t *Tx) call(fn func(*Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(t)
}

// Exec runs a statement.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	return t.run.ExecContext(t.ctx, rebind(t.dialect, query), values(args)...)
}

// Changed runs a statement and returns how many rows it changed: the heart of
// compare-and-set (UPDATE … WHERE version = ?).
func (t *Tx) Changed(query string, args ...any) (int64, error) {
	res, err := t.Exec(query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Query reads rows.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	return t.run.QueryContext(t.ctx, rebind(t.dialect, query), values(args)...)
}

// QueryRow reads one row.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	return t.run.QueryRowContext(t.ctx, rebind(t.dialect, query), values(args)...)
}

// AfterCommit runs f once the changes are on disk, and never otherwise.
func (t *Tx) AfterCommit(f func()) { t.after = append(t.after, f) }

// committed runs what waits for the commit. The change is on disk whatever becomes of that: a panic is told to who listens, and
// stops neither the others nor the writer.
func (t *Tx) committed(told func(error)) {
	for _, f := range t.after {
		func() {
			defer func() {
				if p := recover(); p != nil && told != nil {
					told(fmt.Errorf("panic after a commit: %v\n%s", p, debug.Stack()))
				}
			}()
			f()
		}()
	}
}

// ForUpdate is the suffix that locks selected rows until commit; SQLite's one
// writer needs none.
func (t *Tx) ForUpdate() string {
	if t.dialect == postgresDialect {
		return " FOR UPDATE"
	}
	return ""
}

// Among is the condition that a column holds one of some numbers, and its one variable. A variable for each of them would end at the
// database's limit.
func (t *Tx) Among(column string, numbers []int64) (cond string, arg any) {
	var list strings.Builder
	for i, n := range numbers {
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString(strconv.FormatInt(n, 10))
	}
	if t.dialect == postgresDialect {
		return column + " = ANY(string_to_array(?, ',')::bigint[])", list.String()
	}
	return column + " IN (SELECT value FROM json_each('[' || ? || ']'))", list.String()
}

// values translates arguments to what both drivers store alike.
func values(args []any) []any {
	for i, a := range args {
		switch v := a.(type) {
		case time.Time:
			args[i] = Micros(v)
		case bool:
			args[i] = int64(0)
			if v {
				args[i] = int64(1)
			}
		}
	}
	return args
}

var rebound sync.Map // query with ? → query with $n

// rebind turns ? into $1, $2 … for PostgreSQL. Statements are constants of
// the program, so the cache is as large as the program.
func rebind(d dialect, query string) string {
	if d != postgresDialect || !strings.Contains(query, "?") {
		return query
	}
	if q, ok := rebound.Load(query); ok {
		return q.(string)
	}
	var b strings.Builder
	n, quoted := 0, false
	for i := range len(query) {
		switch c := query[i]; {
		case c == '\'':
			quoted = !quoted
			b.WriteByte(c)
		case c == '?' && !quoted:
			n++
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(n))
		default:
			b.WriteByte(c)
		}
	}
	rebound.Store(query, b.String())
	return b.String()
}
