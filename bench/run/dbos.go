package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// dbosResult is what the program in bench/dbos prints.
type dbosResult struct{ Step, Empty, Bare time.Duration }

// dbosProgram builds the program in bench/dbos, which is a module of its own. why says why there is none.
func dbosProgram() (path, why string, err error) {
	dir, err := scratch("tb")
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "dbos")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	cmd.Dir, cmd.Env = filepath.Join("bench", "dbos"), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Sprintf("DBOS was not measured: %v: %.200s", err, out), nil
	}
	return path, "", nil
}

// dbosOn measures a step of DBOS on a database: a PostgreSQL's address, or a file that is made.
func dbosOn(program, database string) (r dbosResult, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-database", database, "-steps", fmt.Sprint(chainSteps))
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, 5*time.Second
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("DBOS on %s: %w: %.500s", database, err, said.String())
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// onPostgres calls fn with the addresses of two empty databases of one private PostgreSQL.
func onPostgres(fn func(one, other string) error) (err error) {
	if runtime.GOOS == "windows" {
		return errors.New("a private PostgreSQL is started on Unix only")
	}
	t := &borrower{}
	defer func() {
		if said := recover(); said != nil {
			if said != t {
				panic(said)
			}
			err = errors.Join(err, t.failure)
		}
		for _, f := range slices.Backward(t.cleanups) {
			f()
		}
	}()
	return fn(testenv.Postgres(t), testenv.Postgres(t))
}

// borrower borrows what tests start: of a test it is what that needs.
type borrower struct {
	testing.TB
	cleanups []func()
	failure  error
}

func (t *borrower) Helper()                      {}
func (t *borrower) Cleanup(f func())             { t.cleanups = append(t.cleanups, f) }
func (t *borrower) Errorf(f string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+f+"\n", args...) }
func (t *borrower) Fatal(args ...any)            { t.end(fmt.Sprint(args...)) }
func (t *borrower) Fatalf(f string, args ...any) { t.end(fmt.Sprintf(f, args...)) }
func (t *borrower) end(why string)               { t.failure = errors.New(why); panic(t) }
