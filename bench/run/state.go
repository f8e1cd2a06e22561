package main

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", used bare

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/resource"
	"tandem/internal/resource/wire"
)

// A sample is long enough to average over a few hundred syncs.
const sample = 700 * time.Millisecond

var value = json.RawMessage(`"a value of a hundred bytes or so, as a lease or a small setting would have it: holder, purpose, time"`)

// stateOperations compares a state operation (decided, changed, recorded in the
// journal with its Merkle edge) with a bare insert that is synced as well.
func stateOperations(entries int) (section, error) {
	s := section{title: "A state operation", how: "`resource.put` of a new key through the gate (policy, change, event, " +
		"Merkle edge in one transaction) against one INSERT of the same value " +
		"by the same driver, both synchronous=FULL. Sixteen callers share syncs."}
	dir, err := scratch("tandem-bench")
	if err != nil {
		return s, err
	}
	h, err := openHouse(filepath.Join(dir, "house.db"))
	if err != nil {
		return s, err
	}
	defer h.db.Close()
	if err := h.grow(1000); err != nil {
		return s, err
	}
	for _, callers := range []int{1, 16} {
		insert, done, err := bareInsert(filepath.Join(dir, fmt.Sprintf("bare%d.db", callers)))
		if err != nil {
			return s, err
		}
		ours, bare, err := compare(callers, h.put, insert)
		if err := errors.Join(err, done()); err != nil {
			return s, err
		}
		goal := map[int]float64{1: 0.45, 16: 1}[callers]
		s.figures = append(s.figures, figure{fmt.Sprintf("%d caller(s)", callers), perSecond(ours),
			perSecond(bare) + ", so " + percent(ours/bare),
			"≥ " + percent(goal), ours/bare >= goal})
	}
	long, err := openHouse(filepath.Join(dir, "long.db"))
	if err != nil {
		return s, err
	}
	defer long.db.Close()
	if err := long.grow(int64(entries)); err != nil {
		return s, err
	}
	slow, quick, err := compare(1, long.put, h.put)
	if err != nil {
		return s, err
	}
	s.figures = append(s.figures, figure{fmt.Sprintf("1 caller, behind %d entries", entries), perSecond(slow),
		fmt.Sprintf("%s behind few, so %.2f × the time", perSecond(quick), quick/slow), "≤ 1.2 ×", quick/slow <= 1.2})
	return s, nil
}

// house is the spine and one room, without doors.
type house struct {
	db      *db.DB
	journal *journal.Journal
	gate    *gate.Gate
	ctx     context.Context
	n       atomic.Int64
}

func openHouse(path string) (*house, error) {
	ctx := context.Background()
	d, err := db.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	if _, err := d.Migrate(ctx, journal.Migrations, identity.Migrations, approval.Migrations, gate.Migrations,
		resource.Migrations); err != nil {
		return nil, err
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	who, err := identity.New(ctx, d)
	if err != nil {
		return nil, err
	}
	compiled, err := policy.Compile(policy.Source{Tenant: identity.LocalTenant, Grants: policy.DefaultGrants()})
	if err != nil {
		return nil, err
	}
	h := &house{db: d, journal: journal.New(d, key)}
	var table op.Table
	if err := table.Add(resource.New(d).Ops()...); err != nil {
		return nil, err
	}
	policies := func(context.Context, string) (*policy.Compiled, error) { return compiled, nil }
	h.gate = gate.New(&table, d, h.journal, policies, approval.New(d, approval.ByName),
		gate.Guards{Still: who.Still, Caution: func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", nil },
			Kin: policy.NoKin, Past: func(string) bool { return false }}, slog.New(slog.DiscardHandler))
	caller, err := who.Caller(ctx, identity.LocalTenant, identity.LocalUser, op.DoorSocket)
	if err != nil {
		return nil, err
	}
	h.ctx = op.WithCaller(ctx, caller)
	return h, nil
}

func (h *house) put(int, int) error {
	_, err := op.Do(h.ctx, h.gate, wire.Put, wire.PutIn{Key: fmt.Sprintf("bench/%09d", h.n.Add(1)), Value: value})
	return err
}

// grow appends entries to the journal until it has n, many in a transaction.
func (h *house) grow(n int64) error {
	for {
		size, err := h.journal.Head(h.ctx)
		if err != nil || size >= n {
			return err
		}
		err = h.db.Write(h.ctx, func(tx *db.Tx) error {
			for range min(1000, n-size) {
				ev := journal.Event{Tenant: identity.LocalTenant, Type: "resource.put", Phase: journal.Done, Actor: "local",
					Resource: "resource:/bench", Payload: json.RawMessage(`{"input":` + string(value) + `}`)}
				if _, err := h.journal.Append(tx, ev); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// bareInsert is what SQLite alone does: a transaction for each insert.
func bareInsert(path string) (insert func(caller, n int) error, done func() error, err error) {
	d, err := sql.Open("sqlite",
		"file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	d.SetMaxOpenConns(1)
	if _, err := d.Exec("CREATE TABLE thing (key TEXT PRIMARY KEY, value TEXT NOT NULL, at INTEGER NOT NULL)"); err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	prepared, err := d.Prepare("INSERT INTO thing (key, value, at) VALUES (?, ?, ?)")
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	var n atomic.Int64
	insert = func(int, int) error {
		_, err := prepared.Exec(fmt.Sprintf("bench/%09d", n.Add(1)), string(value), time.Now().UnixMicro())
		return err
	}
	return insert, func() error { return errors.Join(prepared.Close(), d.Close()) }, nil
}
