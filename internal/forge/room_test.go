package forge

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/forge/forgetest"
	"tandem/internal/forge/wire"
	jobs "tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/session/checkout"
	"tandem/internal/testenv"
)

// desk is a room with a forge that is called work, and a job in review.
type desk struct {
	*Room
	t    *testing.T
	at   *forgetest.Server
	ctx  context.Context
	job  *jobs.Job
	why  string // why the job does not end
	told int
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), journal.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	_, sign, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := forgetest.Start(wire.Gitea, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(at.Close)
	k := &desk{t: t, at: at}
	k.ctx = op.WithAllowed(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann"}), func(string, op.Resource) bool { return true })
	k.Room = &Room{DB: d, Journal: journal.New(d, sign), Log: slog.New(slog.DiscardHandler), Tools: checkout.Tools{Env: testenv.Env(t)},
		Keys: Keys{Lend: func(_ context.Context, _, _ string, fn func([]byte) error) error { return fn([]byte(forgetest.Token)) }},
		Work: func(context.Context, string, string, string, bool) (*jobs.Job, error) { j := *k.job; return &j, nil },
		Landed: func(context.Context, string, string, *wire.Pull) (string, error) {
			k.told++
			return k.why, nil
		}}
	k.forge("work", at.URL, forgetest.Repo)
	dir, base, commit := work(t)
	k.job = &jobs.Job{ID: "job_000001", Repo: dir, Base: base, Commit: commit, Onto: "main", Agent: "fake/s", Session: "ses_1",
		Task: "mend it"}
	k.git("push", "-q", at.Git, base+":refs/heads/main")
	return k
}

func (k *desk) git(args ...string) string {
	k.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", k.job.Repo, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Env = testenv.Env(k.t, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		k.t.Fatalf("git %v: %s", args, out)
	}
	return strings.TrimSpace(string(out))
}

func (k *desk) forge(name, url, repo string) {
	k.t.Helper()
	if err := k.DB.Write(k.ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM forge WHERE name = ?", name)
		if err == nil {
			_, err = tx.Exec("INSERT INTO forge (tenant, "+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "t", name, string(wire.Gitea), url, repo,
				true, secretName(name), "ann", tx.Now())
		}
		return err
	}); err != nil {
		k.t.Fatal(err)
	}
}

// turn is another commit of the job.
func (k *desk) turn(files map[string]string, gone ...string) {
	k.t.Helper()
	for name, text := range files {
		k.git("update-index", "--add", "--cacheinfo", "100644,"+k.blob(text)+","+name)
	}
	for _, name := range gone {
		k.git("update-index", "--force-remove", name)
	}
	k.job.Commit = k.git("commit-tree", "-p", k.job.Commit, "-m", "a turn's own words", k.git("write-tree"))
}

func (k *desk) blob(text string) string {
	k.t.Helper()
	cmd := exec.Command("git", "-C", k.job.Repo, "hash-object", "-w", "--stdin")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		k.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (k *desk) posts() *wire.Pull {
	k.t.Helper()
	p, err := k.post(k.ctx, wire.PostIn{ID: k.job.ID, Commit: k.job.Commit, Forge: "work"})
	if err != nil {
		k.t.Fatal(err)
	}
	return p
}

func (k *desk) stored() *pull {
	k.t.Helper()
	p, err := k.pullOf(k.ctx, "t", k.job.ID)
	if err != nil || p == nil {
		k.t.Fatal(p, err)
	}
	return p
}

// What a turn wrote and a later one took out is not posted, and neither are the agent's subjects.
func TestAPostHoldsNothingThatNobodyLookedAt(t *testing.T) {
	k := newDesk(t)
	k.turn(map[string]string{"KEY.txt": "hunter2-of-turn-one", "a.txt": "one"})
	k.turn(map[string]string{"a.txt": "two"}, "KEY.txt")
	p := k.posts()
	first := k.at.Tip("tandem/job_000001")
	k.turn(map[string]string{"KEY.txt": "hunter2-of-turn-three"})
	k.turn(map[string]string{"a.txt": "three"}, "KEY.txt")
	if again := k.posts(); again.Number != p.Number || again.Commit != k.job.Commit {
		t.Errorf("%+v", again)
	}
	out, err := exec.Command("git", "-C", k.at.Git, "log", "-p", "main..tandem/job_000001").CombinedOutput()
	if err != nil || strings.Contains(string(out), "hunter2") || strings.Contains(string(out), "a turn's own words") ||
		!strings.Contains(string(out), "+three") || strings.Count(string(out), "\ncommit ") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	k.git("fetch", "-q", k.at.Git, "tandem/job_000001")
	if k.git("rev-parse", "FETCH_HEAD^") != first || k.git("rev-parse", "FETCH_HEAD^{tree}") != k.git("rev-parse", k.job.Commit+"^{tree}") {
		t.Error("the branch does not stand on the last post, or has other files than the job's commit")
	}
	objects, err := exec.Command("git", "-C", k.at.Git, "cat-file", "--batch-all-objects", "--batch").CombinedOutput()
	if err != nil || strings.Contains(string(objects), "hunter2") {
		t.Errorf("what was taken out is among the objects there: %v", err)
	}
	if p := k.stored(); k.look(k.ctx, "t", p) != nil || p.Problem != "" {
		t.Errorf("%+v", p)
	}
}

// A job ends by what was posted and merged where it was posted for; until it is over it is told again.
func TestAMergeThereIsComparedAndTold(t *testing.T) {
	k := newDesk(t)
	p := k.posts()
	k.why = "its workspace holds work"
	if err := k.at.Merge(p.Number, "carol"); err != nil {
		t.Fatal(err)
	}
	if err := k.look(k.ctx, "t", k.stored()); err != nil || k.told != 1 || !strings.Contains(k.stored().Problem, k.why) {
		t.Errorf("told %d times: %v, %+v", k.told, err, k.stored())
	}
	k.why = ""
	k.looks(k.ctx, []due{{"t", k.stored()}})
	if q := k.stored(); k.told != 2 || !q.Settled || q.Problem != "" || q.stage() != string(wire.Merged) {
		t.Errorf("told %d times: %+v", k.told, q)
	}
	// Somebody pushed on top before it was merged.
	other := newDesk(t)
	p = other.posts()
	other.git("push", "-q", "-f", other.at.Git, other.git("commit-tree", "-m", "theirs", "main^{tree}")+":refs/heads/tandem/job_000001")
	if err := other.at.Merge(p.Number, "carol"); err != nil {
		t.Fatal(err)
	}
	err := other.look(other.ctx, "t", other.stored())
	if q := other.stored(); err != nil || other.told != 0 || !strings.Contains(q.Problem, "was not posted") {
		t.Errorf("told %d times: %v, %+v", other.told, err, q)
	}
}

// A name that was given to another repository is not taken for the one that was posted to; a post that was refused binds nothing.
func TestAPullRequestIsOfItsForge(t *testing.T) {
	k := newDesk(t)
	p := k.posts()
	asked := len(k.at.Asked)
	k.forge("work", k.at.URL, "acme/other")
	_, err := k.post(k.ctx, wire.PostIn{ID: k.job.ID, Commit: k.job.Commit})
	looked := k.look(k.ctx, "t", k.stored())
	if !fault.Is(err, fault.Conflict) || !fault.Is(looked, fault.Conflict) || len(k.at.Asked) != asked {
		t.Errorf("%v, %v, asked %v", err, looked, k.at.Asked[asked:])
	}
	k.forge("work", k.at.URL, forgetest.Repo)
	if err := k.look(k.ctx, "t", k.stored()); err != nil || p.Number == 0 {
		t.Error(err)
	}
	k.job.ID, k.job.Onto = "job_000002", "nowhere"
	if _, err := k.post(k.ctx, wire.PostIn{ID: k.job.ID, Commit: k.job.Commit, Forge: "work"}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	stuck := &pull{Pull: wire.Pull{Job: k.job.ID, Forge: "gone", State: wire.Open}, Where: "another"}
	if err := k.DB.Write(k.ctx, func(tx *db.Tx) error { return k.save(tx, "t", stuck) }); err != nil {
		t.Fatal(err)
	}
	if stuck.stage() != posting {
		t.Error("a round takes up a post that did not end:", stuck.stage())
	}
	if k.job.Onto = "main"; k.posts().Number == p.Number {
		t.Error("two jobs have one pull request")
	}
	err = k.DB.Write(k.ctx, func(tx *db.Tx) error { return k.Forget(k.ctx, tx, "t", k.job.ID) })
	if err != nil || k.Of(k.ctx, "t", k.job.ID) != nil {
		t.Errorf("of a job that is forgotten something stays: %v", err)
	}
}

// A token that others use is not sent to another address, and not by who may not change those.
func TestASealedTokenStaysWithItsForge(t *testing.T) {
	k := newDesk(t)
	f := &wire.Forge{Name: "mine", Kind: wire.Gitea, URL: "https://evil.example.org", Repo: "a/b", Secret: "forge/work"}
	if err := k.lends(k.ctx, "t", f); !fault.Is(err, fault.Conflict) {
		t.Errorf("another address: %v", err)
	}
	f.URL = k.at.URL
	if err := k.lends(k.ctx, "t", f); err != nil {
		t.Errorf("the same address: %v", err)
	}
	mine := op.WithAllowed(k.ctx, func(_ string, r op.Resource) bool { return r.Path == "/mine" })
	if err := k.lends(mine, "t", f); !fault.Is(err, fault.Denied) {
		t.Errorf("of somebody who may change another forge: %v", err)
	}
}

// A forge that counts requests is left alone until it says; one that answers without end is not heard to the end.
func TestAForgeIsAskedWithinBounds(t *testing.T) {
	asked, answer := 0, func(http.ResponseWriter, *http.Request) {}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++; answer(w, r) }))
	defer s.Close()
	k := newDesk(t)
	f := &wire.Forge{Name: "busy", Kind: wire.Gitea, URL: s.URL, Repo: "a/b", Inside: true}
	answer = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusForbidden)
	}
	for range 3 {
		err := k.visit(k.ctx, "t", f, func(l *lent) error { return l.Can(k.ctx) })
		if !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), "rate") || !strings.Contains(fault.Public(err).Next, "wait 2m") &&
			!strings.Contains(fault.Public(err).Next, "wait 1m") {
			t.Errorf("%v", err)
		}
	}
	if asked != 1 {
		t.Errorf("it was asked %d times", asked)
	}
	if err := rate("x", 403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"99999999999"}}, time.Now()); err == nil {
		t.Error("a limit of GitHub's is taken for a token that may not")
	}
	answer = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/reviews") {
			fmt.Fprintf(w, "[%s{}]", strings.Repeat(`{"id":1,"state":"COMMENT","comments_count":1},`, 4000))
			return
		}
		fmt.Fprint(w, "[]")
	}
	asked = 0
	if _, err := visitor(f, "token-token").Comments(t.Context(), 1); err != nil || asked > maxThreads+2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	answer = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "[%s{}]", strings.Repeat("{},", 2<<20)) }
	if _, err := visitor(f, "token-token").Issues(t.Context()); !fault.Is(err, fault.Exhausted) {
		t.Error(err)
	}
	quiet := &pull{Pull: wire.Pull{LookedAt: time.Unix(1e9, 0)}, Moved: time.Unix(1e9, 0).Add(-48 * time.Hour)}
	if wait := quiet.turn().Add(often).Sub(quiet.LookedAt); wait != rarely {
		t.Errorf("one where nothing moves is looked at again after %s", wait)
	}
}

// A line of SQL said which pull request and which commit a person merges, and that one is merged there, by which the job ends.
func TestAPullRequestIsWhatWasPosted(t *testing.T) {
	k := newDesk(t)
	if _, err := k.Journal.Recall(t.Context(), filepath.Join(t.TempDir(), "seals")); err != nil {
		t.Fatal(err)
	}
	f, err := k.load(k.ctx, "t", "work")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.DB.Write(k.ctx, func(tx *db.Tx) error {
		return k.Journal.Tell(tx, journal.Event{Tenant: "t", Type: "forge.add", Phase: journal.Done}, map[string]any{}, seal("t", f))
	}); err != nil {
		t.Fatal(err)
	}
	k.Vouch = k.Journal.Vouch()
	sql := func(change func(p *pull)) {
		t.Helper()
		p := k.stored()
		change(p)
		if err := k.DB.Write(k.ctx, func(tx *db.Tx) error { return k.save(tx, "t", p) }); err != nil {
			t.Fatal(err)
		}
	}
	p := k.posts()
	merge := func() error {
		_, err := k.merge(k.ctx, wire.MergeIn{ID: k.job.ID, Commit: k.job.Commit})
		return err
	}
	theirs := k.git("commit-tree", "-p", k.job.Base, "-m", "theirs", "main^{tree}")
	k.git("push", "-q", "-f", k.at.Git, theirs+":refs/heads/tandem/job_000001")
	sql(func(p *pull) { p.Sent = []sent{{k.job.Commit, theirs}} })
	if err := merge(); !fault.Is(err, fault.Denied) {
		t.Errorf("another commit is merged for the one that was posted: %v", err)
	}
	if of := k.Of(k.ctx, "t", k.job.ID); of.Problem != rewritten {
		t.Errorf("it is shown as %+v", of)
	}
	sql(func(p *pull) { p.Sent = []sent{{k.job.Commit, p.Sent[0].As}}; p.State = wire.Merged })
	k.looks(k.ctx, []due{{"t", k.stored()}})
	sql(func(q *pull) { q.Sent[0].As = k.git("rev-parse", "refs/tandem/post/job_000001") }) // as it was posted
	k.looks(k.ctx, []due{{"t", k.stored()}})
	if q := k.stored(); k.told != 0 || q.State != wire.Open {
		t.Errorf("a row alone ends the job, told %d times: %+v", k.told, q)
	}
	if err := merge(); !fault.Is(err, fault.Conflict) { // what stands there is not what was posted
		t.Error(err)
	}
	k.git("push", "-q", "-f", k.at.Git, k.stored().Sent[0].As+":refs/heads/tandem/job_000001")
	if err := merge(); err != nil || k.told != 1 {
		t.Errorf("as it was posted it is merged: %v, told %d times, %d", err, k.told, p.Number)
	}
	rows, err := Rows(k.ctx, k.DB)
	if err != nil || len(rows) != 2 || !k.Vouch.Holds(k.ctx, rows[1]) {
		t.Errorf("%+v %v", rows, err)
	}
}
