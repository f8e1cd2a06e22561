package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// bench is a room on a database of its own, and callers of it.
type bench struct {
	t    *testing.T
	db   *db.DB
	room *Room
}

func newBench(t *testing.T, dsn string) *bench { return newBenchAt(t, dsn, nil) }

// newBenchAt is a bench with a clock.
func newBenchAt(t *testing.T, dsn string, now func() time.Time) *bench {
	t.Helper()
	d, err := db.Open(t.Context(), dsn, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	return &bench{t, d, New(d)}
}

// both runs a test on both databases.
func both(t *testing.T, test func(*testing.T, *bench)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newBench(t, filepath.Join(t.TempDir(), "a.db"))) })
	t.Run("postgres", func(t *testing.T) { test(t, newBench(t, testenv.Postgres(t))) })
}

// caller is somebody who may everything but what is denied.
func caller(kind op.Kind, name string, denied ...string) context.Context {
	c := op.Caller{Tenant: "t", Actor: "act_" + name, Name: name, Kind: kind}
	if kind == op.Session {
		c.Session = name
	}
	ctx := op.WithCaller(context.Background(), c)
	return op.WithMay(ctx, func(_ string, r op.Resource) bool {
		for _, d := range denied {
			if strings.HasPrefix(r.Path+"/", d+"/") {
				return false
			}
		}
		return true
	})
}

// readsOnly is a person who may everything but write into a place.
func readsOnly(name, place string) context.Context {
	return op.WithMay(caller(op.Person, name), func(right string, r op.Resource) bool { return right != "memory.write" || r.Path != place })
}

var (
	ann   = caller(op.Person, "ann")
	robot = caller(op.Session, "ses_robot")
	other = caller(op.Agent, "other")
)

func change[In, Out any](b *bench, ctx context.Context, do func(context.Context, *db.Tx, In) (Out, error), in In) (out Out, err error) {
	err = b.db.Write(ctx, func(tx *db.Tx) (err error) {
		out, err = do(ctx, tx, in)
		return err
	})
	return out, err
}

// must is change that succeeds.
func must[In, Out any](b *bench, ctx context.Context, do func(context.Context, *db.Tx, In) (Out, error), in In) Out {
	b.t.Helper()
	out, err := change(b, ctx, do, in)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// found are the texts that somebody finds, best first.
func (b *bench) found(ctx context.Context, query string) (texts []string) {
	b.t.Helper()
	out, err := b.room.search(ctx, wire.SearchIn{Query: query})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, h := range out.Hits {
		texts = append(texts, h.Text)
	}
	return texts
}

func is(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %q, not %q", what, got, want)
	}
}

// What an agent writes is told to nobody until a person has made it live; a newer record stands for the one that it contradicts.
func TestAProposalIsToldWhenAPersonMadeItLive(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		old := must(b, ann, b.room.add, wire.AddIn{Text: "Releases are cut on Tuesdays", Kind: wire.Decision})
		p := must(b, robot, b.room.propose, wire.AddIn{Text: "Releases are cut on Wednesdays", Replaces: old.ID})
		if old.State != wire.Live || old.Trust != wire.Stated || p.State != wire.Proposed || p.Trust != wire.Untrusted {
			t.Errorf("%+v, %+v", old, p)
		}
		is(t, "before", b.found(other, "release"), "Releases are cut on Tuesdays")
		if _, err := b.room.show(other, wire.IDIn{ID: p.ID}); !fault.Is(err, fault.NotFound) {
			t.Errorf("another agent reads the proposal: %v", err)
		}
		for who, want := range map[string]int{"ann": 1, "robot": 1, "other": 0} {
			ctx := map[string]context.Context{"ann": ann, "robot": robot, "other": other}[who]
			if l, err := b.room.list(ctx, wire.ListIn{State: wire.Proposed}); err != nil || len(l.Records) != want {
				t.Errorf("%s sees %d proposals: %v", who, len(l.Records), err)
			}
		}
		if again := must(b, robot, b.room.propose, wire.AddIn{Text: "Releases are cut on Wednesdays"}); !again.Known || again.ID != p.ID {
			t.Errorf("the same again: %+v", again)
		}
		live := must(b, ann, b.room.promote, wire.MoveIn{ID: p.ID, Version: 1})
		if live.State != wire.Live || live.Trust != wire.Approved {
			t.Errorf("%+v", live)
		}
		is(t, "after", b.found(other, "release"), "Releases are cut on Wednesdays")
		was, err := b.room.show(other, wire.IDIn{ID: old.ID})
		if err != nil || was.State != wire.Superseded || was.ReplacedBy != p.ID {
			t.Errorf("%+v, %v", was, err)
		}
		if _, err := change(b, ann, b.room.promote, wire.MoveIn{ID: p.ID, Version: 1}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a version that is gone: %v", err)
		}
		must(b, ann, b.room.demote, wire.MoveIn{ID: p.ID})
		is(t, "taken back", b.found(other, "release"))
		h, err := b.room.history(ann, wire.IDIn{ID: p.ID})
		if err != nil || len(h.Versions) != 3 || h.Versions[2].What != "taken back" || h.Record.Sources[0].Ref != "ses_robot" {
			t.Errorf("%+v, %v", h, err)
		}
	})
}

// A summary is trusted no more than its weakest source, whoever approves it.
func TestTrustDoesNotRiseBySummarising(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		said := must(b, ann, b.room.add, wire.AddIn{Text: "We use Go"})
		heard := must(b, robot, b.room.propose, wire.AddIn{Text: "A page says: use Rust"})
		sum := must(b, ann, b.room.add, wire.AddIn{Text: "Go, or Rust",
			Sources: []wire.Source{{Kind: "memory", Ref: said.ID}, {Kind: "memory", Ref: heard.ID}}})
		if sum.Trust != wire.Untrusted {
			t.Errorf("%+v", sum)
		}
		p := must(b, robot, b.room.propose, wire.AddIn{Text: "Rust it is", Sources: []wire.Source{{Kind: "memory", Ref: sum.ID}}})
		if p = must(b, ann, b.room.promote, wire.MoveIn{ID: p.ID}); p.Trust != wire.Untrusted || p.State != wire.Live {
			t.Errorf("%+v", p)
		}
		gone := must(b, ann, b.room.forget, wire.IDIn{ID: sum.ID})
		is(t, "derived", gone.Derived, p.ID)
	})
}

// Words are found by stems, phrases and beginnings, the rare ones first; what says the same is folded.
func TestSearchFindsByWords(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for _, s := range []string{"The merge queue retries twice", "Queues merge later", "the boardRoom is locked",
			"The merge queue, retries twice!", "nothing of interest"} {
			must(b, ann, b.room.add, wire.AddIn{Text: s, Labels: []string{"l-" + strings.ToLower(s[:1])}})
		}
		is(t, "stem", b.found(ann, "retry"), "The merge queue retries twice")
		is(t, "phrase", b.found(ann, `"merge queue"`), "The merge queue retries twice")
		is(t, "beginning", b.found(ann, "boardr*"), "the boardRoom is locked")
		is(t, "a whole word as a beginning", b.found(ann, "retries*"), "The merge queue retries twice")
		is(t, "part", b.found(ann, "room"), "the boardRoom is locked")
		is(t, "none", b.found(ann, "absent"))
		out, err := b.room.search(ann, wire.SearchIn{Query: "merge", Filter: wire.Filter{Label: "l-q"}})
		if err != nil || len(out.Hits) != 1 || out.Hits[0].Text != "Queues merge later" {
			t.Errorf("by label: %+v, %v", out, err)
		}
		if _, err := b.room.search(ann, wire.SearchIn{Query: "merge", Filter: wire.Filter{Label: "%"}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a pattern as a label: %v", err)
		}
	})
}

// A brief is short, says each thing once, and tells of projects only the one that it is about.
func TestABriefIsShortAndSaysThingsOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		must(b, ann, b.room.add, wire.AddIn{Text: "Tea is at four", Sources: []wire.Source{{Kind: "file", Ref: "docs/tea.md"}}})
		must(b, ann, b.room.add, wire.AddIn{Text: "Releases are cut on Tuesdays", Kind: wire.Decision})
		must(b, ann, b.room.add, wire.AddIn{Text: "releases are cut, on Tuesdays!", Kind: wire.Lesson})
		must(b, ann, b.room.add, wire.AddIn{Text: "Payments need Redis", Kind: wire.Lesson, Tier: wire.OfProject, Of: "payments"})
		must(b, robot, b.room.propose, wire.AddIn{Text: "Trust me", Kind: wire.Decision})
		told := func(in wire.BriefIn) wire.BriefOut {
			out, err := b.room.brief(robot, in)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		out := told(wire.BriefIn{About: "tea release"})
		if len(out.IDs) != 2 || !strings.Contains(out.Text, "from file docs/tea.md") || strings.Contains(out.Text, "Trust") {
			t.Errorf("%+v", out)
		}
		if out := told(wire.BriefIn{Project: "payments"}); len(out.IDs) != 2 || !strings.Contains(out.Text, "Redis") {
			t.Errorf("of a project: %+v", out)
		}
		if out := told(wire.BriefIn{Again: true, Bytes: 10}); len(out.IDs) != 0 || out.Left != 1 || out.Text != "" {
			t.Errorf("without room: %+v", out)
		}
	})
}

// What was forgotten is in no table and not in the file.
func TestTheForgottenIsGone(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		const canary = "zebracanary"
		id := must(b, robot, b.room.propose, wire.AddIn{Text: "The " + canary + " sings", Labels: []string{canary},
			Sources: []wire.Source{{Kind: "url", Ref: "https://" + canary + ".example"}}}).ID
		must(b, ann, b.room.promote, wire.MoveIn{ID: id})
		text := "Loud is the " + canary
		must(b, ann, b.room.edit, wire.EditIn{ID: id, Text: &text})
		is(t, "before", b.found(other, canary), text)
		told := false
		b.room.Forgot = func() { told = true }
		must(b, ann, b.room.forget, wire.IDIn{ID: id})
		if !told {
			t.Error("nobody was told that the file still holds it")
		}
		is(t, "after", b.found(other, canary))
		for _, table := range []string{"memory_record", "memory_version", "memory_source", "memory_posting", "memory_words", "memory_place"} {
			rows, err := b.db.Query(t.Context(), "SELECT * FROM "+table)
			if err != nil {
				t.Fatal(err)
			}
			cols, _ := rows.Columns()
			for rows.Next() {
				cells := make([]any, len(cols))
				for i := range cells {
					cells[i] = new([]byte)
				}
				if err := rows.Scan(cells...); err != nil {
					t.Fatal(err)
				}
				for i, c := range cells {
					if strings.Contains(string(*c.(*[]byte)), canary[:5]) {
						t.Errorf("%s.%s holds it", table, cols[i])
					}
				}
			}
			rows.Close()
		}
		var texts, length int64
		err := b.db.QueryRow(t.Context(), "SELECT texts, length FROM memory_place").Scan(&texts, &length)
		if err != nil || texts != 0 || length != 0 {
			t.Errorf("its place still counts %d texts of %d terms: %v", texts, length, err)
		}
		if b.db.Path() == "" {
			return
		}
		if _, err := b.db.Shrink(t.Context()); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(b.db.Path() + "*")
		for _, f := range files {
			if data, _ := os.ReadFile(f); strings.Contains(string(data), canary[:5]) {
				t.Errorf("%s still holds it", f)
			}
		}
	})
}

// What somebody may not read appears nowhere and moves nothing: with and without it every answer is the same, byte by byte.
func TestWhatOneMayNotReadChangesNothing(t *testing.T) {
	vocabulary := strings.Fields("queue merge retry release board token index cache build deploy lease canary")
	run := 0
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	rapid.Check(t, func(rt *rapid.T) {
		run++
		sentence := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 6).Draw(rt, "words"), " ")
		})
		mine, foreign := rapid.SliceOfN(sentence, 1, 8).Draw(rt, "mine"), rapid.SliceOfN(sentence, 1, 12).Draw(rt, "foreign")
		question := rapid.SliceOfN(rapid.SampledFrom(append(vocabulary, "ca*")), 1, 3).Draw(rt, "question")
		answers := func(with bool) string {
			tenant := fmt.Sprint("t", run, with)
			in := func(ctx context.Context, tenant string) context.Context {
				c := op.CallerFrom(ctx)
				c.Tenant = tenant
				return op.WithCaller(ctx, c)
			}
			owner, reader := in(ann, tenant), in(caller(op.Session, "ses_reader", "/project/hidden"), tenant)
			err := b.db.Write(owner, func(tx *db.Tx) error {
				var failed []error
				add := func(do func(context.Context, *db.Tx, wire.AddIn) (wire.Changed, error), as context.Context, in wire.AddIn) {
					_, err := do(as, tx, in)
					failed = append(failed, err)
				}
				for i := range max(len(mine), len(foreign)) {
					if with && i < len(foreign) {
						text := foreign[i] + " canary"
						add(b.room.add, owner, wire.AddIn{Text: text, Tier: wire.OfProject, Of: "hidden"})
						add(b.room.add, in(ann, tenant+"x"), wire.AddIn{Text: text})
						add(b.room.propose, in(other, tenant), wire.AddIn{Text: text})
						add(b.room.add, owner, wire.AddIn{Text: text, Tier: wire.OfSession, Of: "ses_else"})
					}
					if i < len(mine) {
						add(b.room.add, owner, wire.AddIn{Text: mine[i], Days: i % 2})
					}
				}
				return errors.Join(failed...)
			})
			if err != nil {
				rt.Fatal(err)
			}
			found, err := b.room.search(reader, wire.SearchIn{Query: strings.Join(question, " ")})
			if err != nil {
				rt.Fatal(err)
			}
			listed, err := b.room.list(reader, wire.ListIn{})
			if err != nil {
				rt.Fatal(err)
			}
			out, err := b.room.export(reader, wire.ExportIn{})
			if err != nil {
				rt.Fatal(err)
			}
			waiting, err := b.room.list(reader, wire.ListIn{State: wire.Proposed})
			if err != nil {
				rt.Fatal(err)
			}
			told, err := b.room.brief(reader, wire.BriefIn{About: strings.Join(question, " "), Project: "hidden"})
			if err != nil {
				rt.Fatal(err)
			}
			return same(rt, found, listed, out, waiting, len(told.IDs), told.Left, ids.ReplaceAllString(told.Text, "mem_"))
		}
		if without, with := answers(false), answers(true); without != with {
			rt.Fatalf("without what it may not read:\n%s\nwith it:\n%s", without, with)
		}
	})
}

var ids = regexp.MustCompile(`mem_\w+|memory-[0-9a-f]{8}`)

// same is an answer without what differs between two runs: ids and times.
func same(t *rapid.T, answers ...any) string {
	data, err := json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	strip(tree)
	data, _ = json.Marshal(tree)
	return string(data)
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"id", "made_at", "changed_at", "expires_at", "same"} {
			delete(v, k)
		}
		for _, x := range v {
			strip(x)
		}
	case []any:
		for _, x := range v {
			strip(x)
		}
	}
}
