package db

import (
	"context"
	"errors"
	"slices"
	"sync"

	"modernc.org/sqlite"

	"tandem/internal/fault"
)

// maxBatch bounds how many transactions share one sync, so that the first of
// them is not kept waiting by a crowd.
const maxBatch = 128

// writer shares the only connection that writes. There is no goroutine of its
// own: whoever comes first leads, runs its transaction and those of all who
// come meanwhile, syncs once, answers them, and hands the lead to the next who
// waits. A lone caller so never waits for another goroutine to wake.
type writer struct {
	conn  *stmtConn // the leader's
	clock *clock
	told  func(error) // of what panicked after a commit
	fence *fence

	mu     sync.Mutex
	led    bool // somebody leads
	queue  []*write
	closed chan struct{} // made by close, closed by the last leader
}

type write struct {
	ctx   context.Context
	fn    func(*Tx) error
	tx    *Tx
	lead  chan struct{} // closed when this caller is to lead
	reply chan error
}

var errClosed = errors.New("the database is closed")

func (w *writer) submit(ctx context.Context, fn func(*Tx) error) error {
	req := &write{ctx: ctx, fn: fn, reply: make(chan error, 1)}
	w.mu.Lock()
	if w.closed != nil {
		w.mu.Unlock()
		return errClosed
	}
	if w.led {
		req.lead = make(chan struct{})
		w.queue = append(w.queue, req)
		w.mu.Unlock()
		select {
		case err := <-req.reply:
			return err
		case <-req.lead:
		case <-ctx.Done():
			if w.leave(req) {
				return ctx.Err()
			}
			select { // once begun, its outcome is known
			case err := <-req.reply:
				return err
			case <-req.lead:
			}
		}
	} else {
		w.led = true
		w.mu.Unlock()
	}
	w.batch(req)
	w.pass()
	return <-req.reply
}

// leave takes a request back that nobody has begun.
func (w *writer) leave(req *write) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, req)
	if i < 0 {
		return false
	}
	w.queue = slices.Delete(w.queue, i, i+1)
	return true
}

// pass hands the lead to whoever waits longest.
func (w *writer) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if next := w.take(); next != nil {
		close(next.lead)
		return
	}
	w.led = false
	if w.closed != nil {
		close(w.closed)
	}
}

func (w *writer) take() *write {
	if len(w.queue) == 0 {
		return nil
	}
	req := w.queue[0]
	w.queue = w.queue[1:]
	return req
}

// close waits for everybody who was let in.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = make(chan struct{})
	if !w.led {
		close(w.closed)
	}
	w.mu.Unlock()
	<-w.closed
	w.conn.closeStmts()
}

// batch runs first, and whoever waits behind it, in one transaction.
func (w *writer) batch(first *write) {
	var good []*write
	var lost error
	for req := first; req != nil; req = w.next(len(good)) {
		if len(good) == 0 {
			if err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
				req.reply <- err
				continue
			}
			err := w.look(req.ctx)
			if err == nil {
				err = w.run(req)
			}
			if err != nil {
				req.reply <- errors.Join(err, w.conn.exec("ROLLBACK"))
				continue
			}
		} else if whole, err := w.nested(req); err != nil {
			req.reply <- err
			if !whole { // before anybody else is taken up
				lost = givenUp(err)
				break
			}
			continue
		}
		good = append(good, req)
	}
	if len(good) == 0 {
		return
	}
	if lost == nil {
		lost = w.conn.exec("COMMIT")
	}
	if lost != nil {
		_ = w.conn.exec("ROLLBACK") // there may be nothing left to undo
	}
	for _, req := range good {
		if lost == nil {
			req.tx.committed(w.told)
		}
		req.reply <- lost
	}
}

// look looks at the fence. Once for a batch will do: until its commit nobody else writes.
func (w *writer) look(ctx context.Context) error {
	set := w.fence.set.Load()
	if set == nil {
		return nil
	}
	var one int
	err := w.conn.QueryRowContext(context.WithoutCancel(ctx), set.Live).Scan(&one)
	if NoRows(err) {
		return w.fence.refuse(set)
	}
	return err
}

// givenUp is what the others of a batch are told when one of them made SQLite
// give it up: what SQLite met, such as a full disk, and nothing that was that
// one's own.
func givenUp(err error) error {
	var s *sqlite.Error
	if errors.As(err, &s) {
		if told := sqliteDialect.explain(s); fault.KindOf(told) != fault.Internal {
			return told
		}
	}
	return fault.New(fault.Unavailable, "db", "the database gave up what was under way; nothing was changed").WithNext("try again")
}

// nested runs a transaction inside the batch's, so that its failure undoes its
// own changes alone. whole says whether the batch is still there: some failures,
// such as a full disk, make SQLite give everything up, and what came behind them
// would be a transaction of its own that nobody knows of.
func (w *writer) nested(req *write) (whole bool, err error) {
	if err := w.conn.exec("SAVEPOINT one"); err != nil {
		return false, err
	}
	failed := w.run(req)
	if failed == nil {
		err := w.conn.exec("RELEASE one")
		return err == nil, err
	}
	err = w.conn.exec("ROLLBACK TO one")
	if err == nil {
		err = w.conn.exec("RELEASE one")
	}
	return err == nil, errors.Join(failed, err)
}

// next takes one more request if somebody waits.
func (w *writer) next(n int) *write {
	if n >= maxBatch {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take()
}

// run calls the caller's function. Statements ignore cancellation: SQLite
// would roll the whole batch back with them.
func (w *writer) run(req *write) error {
	req.tx = newTx(context.WithoutCancel(req.ctx), w.conn, sqliteDialect, w.clock)
	return req.tx.call(req.fn)
}
