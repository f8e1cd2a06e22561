// Command dbos measures what a step of DBOS Transact costs: the library in a process of its own, a workflow of so many steps, each of which
// writes one row of its own to the database that the library keeps its checkpoints in. It is a module of its own, so that the program
// needs nothing of it. `make bench ONLY=automation` builds and runs it.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// result is what is printed: the best of the rounds.
type result struct {
	Step  time.Duration // one step of the workflow, its own row written
	Empty time.Duration // one that does nothing: the checkpoint alone
	Bare  time.Duration // the row alone
}

func main() {
	database := flag.String("database", "", "postgres://… or the path of a SQLite file")
	steps := flag.Int("steps", 50, "steps of the workflow")
	rounds := flag.Int("rounds", 3, "how often, of which the best counts")
	flag.Parse()
	out, err := measure(*database, *steps, *rounds)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dbos:", err)
		os.Exit(1)
	}
}

// bench is what the steps work on.
type bench struct {
	own   *sql.DB
	put   string
	steps int
}

func measure(database string, steps, rounds int) (out result, err error) {
	config := dbos.Config{AppName: "bench", ApplicationVersion: "1", Logger: slog.New(slog.DiscardHandler)}
	b := &bench{steps: steps}
	if strings.HasPrefix(database, "postgres") {
		config.DatabaseURL = database
		b.put = "INSERT INTO thing (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
		b.own, err = sql.Open("pgx", database)
	} else { // the library's own choice is synchronous=NORMAL
		b.put = "INSERT INTO thing (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
		b.own, err = sql.Open("sqlite", "file:"+database+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=foreign_keys(ON)"+
			"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		config.SQLiteSystemDB = b.own
	}
	if err != nil {
		return out, err
	}
	defer b.own.Close()
	if config.SQLiteSystemDB != nil {
		b.own.SetMaxOpenConns(8) // as the library opens one by itself
		var full int
		if err := b.own.QueryRow("PRAGMA synchronous").Scan(&full); err != nil || full != 2 {
			return out, errors.Join(err, fmt.Errorf("synchronous is %d, and not FULL", full))
		}
	}
	if _, err := b.own.Exec("CREATE TABLE thing (key TEXT PRIMARY KEY, value TEXT NOT NULL)"); err != nil {
		return out, err
	}
	ctx, err := dbos.NewContext(context.Background(), config)
	if err != nil {
		return out, err
	}
	dbos.RegisterWorkflow(ctx, b.acting)
	dbos.RegisterWorkflow(ctx, b.idle)
	if err := dbos.Launch(ctx); err != nil {
		return out, err
	}
	defer dbos.Shutdown(ctx, 5*time.Second) //nolint:errcheck // it is over
	run := func(w dbos.Workflow[int, int]) func() error {
		return func() error {
			h, err := dbos.RunWorkflow(ctx, w, 0)
			if err == nil {
				_, err = h.GetResult()
			}
			return err
		}
	}
	bare := func() error {
		for i := range steps {
			if err := b.write(context.Background(), fmt.Sprintf("bare%d", i)); err != nil {
				return err
			}
		}
		return nil
	}
	out = result{time.Hour, time.Hour, time.Hour}
	for range rounds { // each beside the others
		for _, one := range []struct {
			best *time.Duration
			do   func() error
		}{{&out.Bare, bare}, {&out.Step, run(b.acting)}, {&out.Empty, run(b.idle)}} {
			began := time.Now()
			if err := one.do(); err != nil {
				return out, err
			}
			*one.best = min(*one.best, time.Since(began)/time.Duration(steps))
		}
	}
	return out, nil
}

func (b *bench) write(ctx context.Context, key string) error {
	_, err := b.own.ExecContext(ctx, b.put, key, "x")
	return err
}

// acting is a workflow whose steps write a row each.
func (b *bench) acting(ctx dbos.Context, _ int) (int, error) {
	return b.each(ctx, func(ctx context.Context, i int) error { return b.write(ctx, fmt.Sprintf("step%d", i)) })
}

// idle is one whose steps do nothing.
func (b *bench) idle(ctx dbos.Context, _ int) (int, error) {
	return b.each(ctx, func(context.Context, int) error { return nil })
}

func (b *bench) each(ctx dbos.Context, step func(context.Context, int) error) (int, error) {
	for i := range b.steps {
		if _, err := dbos.RunAsStep(ctx, func(ctx context.Context) (int, error) { return i, step(ctx, i) }); err != nil {
			return i, err
		}
	}
	return b.steps, nil
}
