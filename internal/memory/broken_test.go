package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
)

// A broken model is refused as often as it is chosen: half of it is not kept from the first time.
func TestABrokenModelIsRefusedEachTime(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.asks(&oracle{})
	folder, _ := tinyModel(t, 1)
	path := filepath.Join(folder, weights)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte("word_embeddings"), []byte("ward_embeddings"), 1)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	for range 2 {
		must(b, ann, b.room.setModel, wire.ModelSetIn{Files: folder, Digest: hex.EncodeToString(sum[:])})
		all, err := choices(b.room.outside(t.Context()), "")
		if err != nil || len(all) != 1 || b.room.try(t.Context(), all[0]) != nil {
			t.Fatal(all, err)
		}
		if s := b.state(); s.State != wire.ModelFailed || !strings.Contains(s.Problem, "word_embeddings") {
			t.Errorf("%+v", s)
		}
	}
}

// A provider that is there no more costs searches and briefs its model, and not their answer.
func TestSearchesGoOnWithoutTheProvider(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.asks(&oracle{})
	must(b, ann, b.room.add, wire.AddIn{Text: "The qwzeppelin lands at noon", Kind: wire.Decision})
	must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/vectors"})
	b.room.pointAll(t.Context())
	b.room.Models.Leaves = func(context.Context, string, string) (bool, error) {
		return false, fault.New(fault.NotFound, "models", "no provider is called house")
	}
	out, err := b.room.search(other, wire.SearchIn{Query: "qwzeppelin"})
	if err != nil || len(out.Hits) != 1 || !strings.Contains(out.How, "house/vectors could not be asked") {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := b.room.brief(robot, wire.BriefIn{About: "qwzeppelin"}); err != nil || len(out.IDs) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if s := b.state(); !strings.Contains(s.Problem, "no provider") {
		t.Errorf("%+v", s)
	}
}

// A server that tried the model not itself fetches its files, too.
func TestFilesOfAModelComeToEveryServer(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.asks(&oracle{})
	folder, digest := tinyModel(t, 1)
	must(b, ann, b.room.add, wire.AddIn{Text: "the owl sleeps in the barn"})
	must(b, ann, b.room.setModel, wire.ModelSetIn{Files: folder, Digest: digest})
	b.room.pointAll(t.Context())
	second := &bench{t, b.db, New(b.db)}
	second.asks(&oracle{})
	if err := os.Rename(folder, folder+"-away"); err != nil {
		t.Fatal(err)
	}
	second.room.pointAll(t.Context())
	if s := second.state(); s.State != wire.ModelReady || s.Problem == "" {
		t.Errorf("without files: %+v", s)
	}
	if err := os.Rename(folder+"-away", folder); err != nil {
		t.Fatal(err)
	}
	must(second, ann, second.room.setModel, wire.ModelSetIn{Files: folder, Digest: digest}) // chosen anew: it is tried at once
	second.room.pointAll(t.Context())
	if s := second.state(); s.State != wire.ModelReady || s.Problem != "" {
		t.Errorf("chosen anew: %+v", s)
	}
	second.room = New(b.db) // a third one
	second.asks(&oracle{})
	second.room.pointAll(t.Context())
	if out := second.search("a barn owl"); !strings.Contains(out.How, "meaning ("+filepath.Base(folder)+")") {
		t.Errorf("%+v", out)
	}
}

// What may not leave the house is not looked for at each search: nothing comes of it.
func TestWhatMayNotLeaveIsLookedForOnce(t *testing.T) {
	needsVectors(t)
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.asks(&oracle{})
	must(b, ann, b.room.add, wire.AddIn{Text: "The qwzeppelin lands at noon"})
	must(b, ann, b.room.add, wire.AddIn{Text: "A secret qwzeppelin", Tier: wire.OfProject, Of: "secret"})
	must(b, ann, b.room.setModel, wire.ModelSetIn{Endpoint: "house/vectors"})
	b.room.pointAll(t.Context())
	roused := func() (n int) {
		for {
			select {
			case <-b.room.meaning.wake:
				n++
			default:
				return n
			}
		}
	}
	b.search("airship")
	b.search("dirigible") // the table of words and the model are both in memory now
	roused()
	b.search("airship")
	if n := roused(); n != 0 {
		t.Errorf("a search that changes nothing asks %d times", n)
	}
	must(b, ann, b.room.add, wire.AddIn{Text: "Another qwzeppelin"})
	b.search("airship")
	if roused() == 0 {
		t.Error("nobody asks for what is new")
	}
}

// silent is a file of which nothing comes until its request ends.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }
func (silent) Close() error               { return nil }

// The models of all wait for one that comes.
func TestAFileOfWhichNothingComesIsGivenUp(t *testing.T) {
	to := filepath.Join(t.TempDir(), "f")
	synctest.Test(t, func(t *testing.T) {
		r := &Room{Models: Models{Fetch: func(ctx context.Context, _, _ string) (io.ReadCloser, error) { return silent{ctx}, nil }}}
		_, err := r.bringFile(t.Context(), &chosen{ref: "https://models.example/m"}, "config.json", to, 1<<20)
		if err == nil || !strings.Contains(err.Error(), "config.json: nothing came of it for 2m") {
			t.Error(err)
		}
	})
}

// slowly is a file of which a byte a second comes.
type slowly struct{ ctx context.Context }

func (s slowly) Read(p []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, "x"), nil
	}
}
func (slowly) Close() error { return nil }

// A byte a second is not what the models of all wait for: a gigabyte would take thirty years. What comes slowly, and comes, is waited for.
func TestAFileThatTricklesIsGivenUp(t *testing.T) {
	to := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := &Room{Models: Models{Fetch: func(ctx context.Context, _, _ string) (io.ReadCloser, error) { return slowly{ctx}, nil }}}
		began := time.Now()
		_, err := r.bringFile(t.Context(), &chosen{ref: "https://models.example/m"}, weights, filepath.Join(to, "a"), maxWeights)
		if err == nil || !strings.Contains(err.Error(), "it comes too slowly: 1") || time.Since(began) > 2*stalled {
			t.Error(err, time.Since(began))
		}
		most := 8 * trickle
		r.Models.Fetch = func(ctx context.Context, _, _ string) (io.ReadCloser, error) {
			return io.NopCloser(&paced{every: stalled / 2, each: trickle, most: most}), nil
		}
		began = time.Now()
		_, err = r.bringFile(t.Context(), &chosen{ref: "https://models.example/m"}, weights, filepath.Join(to, "b"), maxWeights)
		at, failed := os.Stat(filepath.Join(to, "b"))
		if err != nil || failed != nil || at.Size() != int64(most) || time.Since(began) < 3*stalled {
			t.Error(err, failed, time.Since(began))
		}
	})
}

// paced is a file that comes in pieces, with time between them.
type paced struct {
	every      time.Duration
	each, most int
	left       int
}

func (s *paced) Read(p []byte) (int, error) {
	if s.left == 0 {
		if s.most == 0 {
			return 0, io.EOF
		}
		time.Sleep(s.every)
		s.left, s.most = s.each, s.most-s.each
	}
	n := min(len(p), s.left)
	s.left -= n
	return n, nil
}

// A disk or a hand that changes a model's files here costs searches the model until they were fetched anew, and no vector is made with
// them.
func TestChangedFilesOfAModelAreFetchedAnew(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.asks(&oracle{})
	folder, digest := tinyModel(t, 1)
	must(b, ann, b.room.add, wire.AddIn{Text: "the owl sleeps in the barn"})
	must(b, ann, b.room.setModel, wire.ModelSetIn{Files: folder, Digest: digest})
	b.room.pointAll(t.Context())
	by := "meaning (" + filepath.Base(folder) + ")"
	if out := b.search("a barn owl"); !strings.Contains(out.How, by) {
		t.Fatalf("%+v", out)
	}
	for _, name := range []string{weights, "vocab.txt", "config.json"} {
		kept, err := filepath.Glob(filepath.Join(b.room.Models.Folder, "*", name))
		if err != nil || len(kept) != 1 {
			t.Fatal(kept, err)
		}
		raw, err := os.ReadFile(kept[0])
		if err != nil {
			t.Fatal(err)
		}
		if raw[len(raw)-2]++; name == "vocab.txt" {
			raw = bytes.Replace(raw, []byte("owl"), []byte("elk"), 1) // another word has its number
		}
		if err := os.WriteFile(kept[0], raw, 0o600); err != nil {
			t.Fatal(err)
		}
		started := New(b.db) // a start
		started.Models = b.room.Models
		b.room = started
		must(b, ann, b.room.add, wire.AddIn{Text: "another owl, of which " + name + " says nothing"})
		if out := b.search("an owl in a barn, " + name); strings.Contains(out.How, by) || len(out.Hits) == 0 {
			t.Errorf("with another %s: %+v", name, out)
		}
		b.room.pointAll(t.Context())
		b.room.pointAll(t.Context())
		if s := b.state(); s.State != wire.ModelReady || s.Problem != "" || s.Pointed != s.Records {
			t.Errorf("after another %s: %+v", name, s)
		}
		if out := b.search("which owl sleeps, " + name); !strings.Contains(out.How, by) {
			t.Errorf("after another %s: %+v", name, out)
		}
	}
}

// Two servers on one database make the vectors that are missing beside each other: each record has one of each model at the end, both
// servers find by it, and what is forgotten meanwhile has none.
func TestTwoServersFillVectors(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		folder, digest := tinyModel(t, 1)
		var ids []string
		for i := range 40 {
			ids = append(ids, must(b, ann, b.room.add, wire.AddIn{Text: fmt.Sprintf("the owl %d sleeps in the barn", i)}).ID)
		}
		if err := b.db.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec("DELETE FROM memory_vector")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		servers := []*bench{{t, b.db, New(b.db)}, {t, b.db, New(b.db)}}
		for _, s := range servers {
			s.asks(&oracle{})
		}
		must(servers[0], ann, servers[0].room.setModel, wire.ModelSetIn{Files: folder, Digest: digest})
		var all sync.WaitGroup
		for _, s := range servers {
			all.Go(func() { s.room.catchUp(t.Context(), "t", s.numbers()) })
			all.Go(func() { s.room.pointAll(t.Context()) })
		}
		must(b, ann, b.room.forget, wire.IDIn{ID: ids[7]})
		all.Wait()
		for _, s := range servers { // what one lost to the other comes with the next look, as it would
			s.room.pointAll(t.Context())
			s.room.catchUp(t.Context(), "t", s.numbers())
			s.room.pointAll(t.Context())
		}
		for _, table := range []string{"memory_vector", "memory_pointed"} {
			b.none("live records without a vector in "+table, `SELECT count(*) FROM memory_record r WHERE r.state = 'live' AND NOT EXISTS
				(SELECT 1 FROM `+table+` v WHERE v.tenant = r.tenant AND v.nr = r.nr AND length(v.vec) > 0)`)
			b.none("vectors of what was forgotten in "+table, `SELECT count(*) FROM memory_record r WHERE r.state <> 'live' AND EXISTS
				(SELECT 1 FROM `+table+` v WHERE v.tenant = r.tenant AND v.nr = r.nr AND length(v.vec) > 0)`)
		}
		for i, s := range servers {
			out := s.search("a barn owl")
			if !strings.Contains(out.How, "meaning ("+filepath.Base(folder)+")") || strings.Contains(out.How, "it has seen") || len(out.Hits) != 10 {
				t.Errorf("server %d: %d found %s", i, len(out.Hits), out.How)
			}
		}
	})
}

// A tenant whose provider does not answer keeps no other's question waiting.
func TestASlowProviderHoldsUpNobodyElse(t *testing.T) {
	s := newEngines()
	slow := s.slot(&chosen{tenant: "a", kind: ofProvider})
	for range cap(slow) {
		slow <- struct{}{}
	}
	for _, c := range []*chosen{{tenant: "b", kind: ofProvider}, {tenant: "a", kind: ofFiles}} {
		select {
		case s.slot(c) <- struct{}{}:
		default:
			t.Errorf("%+v waits", c)
		}
	}
}
