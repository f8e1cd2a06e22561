package job

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// What a check calls by way of its scripts belongs to it, as far as it is plainly written.
func TestWhatAChecksScriptsCall(t *testing.T) {
	files := map[string]string{

		"check.sh":         "#!/bin/sh\n# not tools/unused.sh\n. \"$(dirname \"$0\")/lib/common.sh\"\n./tools/verify \"$@\" && go test ./...\n",
		"lib/common.sh":    "run() { sh more; }\n",
		"lib/more":         "bin/deep.py\n",
		"bin/deep.py":      "import os\nos.system('tools/deepest.rb')\n",
		"tools/deepest.rb": "puts 1\n", "tools/verify": "#!/usr/bin/env python3\nprint(open('tools/words.txt').read())\n",
		"tools/words.txt": "main.go tools/unused.sh\n", "tools/unused.sh": "true\n", "tools/test": "true\n", "main.go": "package main\n",
		"Makefile":     "check:\n\t@$(SHELL) ${ROOT}/scripts/all.sh\n",
		"package.json": `{"main": "main.go", "scripts": {"test": "node run/suite.mjs --all"}}`, "run/suite.mjs": "import './part.mjs'\n",
		"run/part.mjs": "1\n", "tools/prog/main.go": "package main\n", "tools/prog/more.go": "package main\n",
		"tools/prog/sub/x.go": "package x\n",
		"runs.sh":             "exec go run ./tools/prog\n", "scripts/all.sh": "cat tools/words.txt\n",
		"sub/Makefile": "all:\n\tsh tools/unused.sh\n",
	}
	for command, want := range map[string][]string{
		"sh ./check.sh":          {"bin/deep.py", "lib/common.sh", "lib/more", "tools/deepest.rb", "tools/verify", "tools/words.txt"},
		"make check":             {"scripts/all.sh", "tools/words.txt"},
		"npm test":               {"run/part.mjs", "run/suite.mjs"},
		"go run ./tools/prog -v": {"tools/prog/main.go", "tools/prog/more.go"}, "node run": {"run/part.mjs", "run/suite.mjs"},
		"sh runs.sh": {"tools/prog/main.go", "tools/prog/more.go"}, "go test ./tools/prog": nil,
		"go test ./...": nil, "make -C sub": {"scripts/all.sh", "tools/unused.sh", "tools/words.txt"},
	} {
		got, err := called(command, ".", slices.Collect(maps.Keys(files)), func(f string) (string, error) { return files[f], nil })
		if all := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(all, want) {
			t.Errorf("%s calls %q (%v), want %q", command, all, err, want)
		}
	}
}

// A job that makes a script of its check say yes is green, and says first that it did: with the base's copy the check is red.
func TestAJobThatChangesWhatItsCheckCalls(t *testing.T) {
	a := newAlone(t, "./check.sh")
	a.git("switch", "-q", "main")
	if err := os.Mkdir(filepath.Join(a.repo, "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"check.sh": "#!/bin/sh\nexec ./tools/verify\n", "tools/verify": "#!/bin/sh\nexit 3\n"} {
		a.write(name, text)
		if err := os.Chmod(filepath.Join(a.repo, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "a check")
	base := a.git("rev-parse", "HEAD")
	a.git("switch", "-q", "-c", "weak")
	a.write("tools/verify", "#!/bin/sh\ntrue\n")
	a.git("commit", "-q", "-a", "-m", "weaker")
	a.stands(func(j *Job) { j.Base, j.Commit = base, a.git("rev-parse", "HEAD") })
	a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){
		string(wire.Unseen): func(context.Context, any) (any, error) { return wire.UnseenOut{}, nil }}}
	j := a.rest()
	if j.State != wire.Review || j.Verdict != wire.Green || !slices.Equal(j.Altered, []string{"tools/verify"}) || j.ByBase != wire.Red {
		t.Errorf("it is %s (%s), %s, changed %q of its check, and by the base's copies it is %s", j.State, j.Reason, j.Verdict, j.Altered,
			j.ByBase)
	}
	caller := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t"}), op.Sight{File: func(string) bool { return true }})
	if out, err := a.diff(caller, wire.DiffIn{ID: "job_1"}); err != nil || len(out.Files) != 1 || !out.Files[0].Checks {
		t.Errorf("the diff: %+v %v", out.Files, err)
	}
}

// There are as many open jobs of a tenant, and of one who starts them, as there may be. Of those that are over the newest stay.
func TestJobsAreBounded(t *testing.T) { onBoth(t, bounded) }

func bounded(t *testing.T, a *alone) {
	start := func(actor string) error {
		ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Actor: actor, Name: actor})
		return a.DB.Write(ctx, func(tx *db.Tx) error {
			_, err := a.start(ctx, tx, wire.StartIn{Task: "x", Folder: a.repo})
			return err
		})
	}
	fill := func(prefix, actor string, state wire.State, n int) {
		t.Helper()
		if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(fmt.Sprintf(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)
				INSERT INTO job (tenant, id, state, body, owner, fence, created_at, updated_at) SELECT 't', 'job_%[2]s' || i, '%[3]s',
				'{"id":"job_%[2]s' || i || '","state":"%[3]s","caller":{"actor":"%[4]s"}}', '', 0, 1, 1 FROM c`, n, prefix, state, actor))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	fill("0", "ann", wire.Merged, maxKept)
	if err := start("ann"); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := a.DB.QueryRow(t.Context(), "SELECT count(*) FROM job WHERE state = 'merged'").Scan(&left); err != nil || left >= maxKept {
		t.Errorf("%d are kept: %v", left, err)
	}
	fill("a", "ann", wire.Review, maxFrom)
	if err := start("ann"); !fault.Is(err, fault.Exhausted) {
		t.Errorf("one has more than they may: %v", err)
	}
	if err := start("bob"); err != nil {
		t.Errorf("another one has none: %v", err)
	}
	fill("b", "carl", wire.Review, maxOpen-maxFrom)
	if err := start("bob"); !fault.Is(err, fault.Exhausted) {
		t.Errorf("a tenant has more than it may: %v", err)
	}
	for range maxEvidence + 20 {
		if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.keep(tx, a.job, ran(wire.Green)) }); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := a.evidence(t.Context(), "t", "job_1"); err != nil || len(all) != maxEvidence || all[len(all)-1].N != maxEvidence+20 {
		t.Errorf("%d runs of the check are kept: %v", len(all), err)
	}
}
