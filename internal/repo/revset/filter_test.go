package revset

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
)

// line is a history of n commits, one upon the other, described by their number.
func line(t *testing.T, n int) (*Repo, []repo.CommitID) {
	t.Helper()
	now := func() repo.Timestamp { return repo.Timestamp{Millis: 1_000_000_000_000} }
	who := &repo.Identity{Name: "a", Email: "a@example.com", Now: now, OpNow: now, NewChangeID: repo.SeededChangeIDs(1)}
	r := &repo.Repo{Store: repo.NewOverlay(nil), Operation: repo.RootOperation(), View: repo.RootView(), Index: repo.NewIndex()}
	tx := r.Begin(who)
	parent, ids := repo.RootCommit(), []repo.CommitID{}
	for i := range n {
		d := tx.NewCommit([]repo.CommitID{parent.ID}, parent.Tree)
		d.Description = fmt.Sprint(i)
		c, err := tx.Write(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		parent, ids = c, append(ids, c.ID)
	}
	r, err := tx.Finish(t.Context(), "a line")
	if err != nil {
		t.Fatal(err)
	}
	return &Repo{Repo: r}, ids
}

// unread is a store that cannot read some commits.
type unread struct {
	repo.Store
	not []repo.CommitID
}

func (u unread) Commit(ctx context.Context, id repo.CommitID) (*repo.Commit, error) {
	if slices.Contains(u.not, id) {
		return nil, fmt.Errorf("cannot read %s", id.Hex())
	}
	return u.Store.Commit(ctx, id)
}

func TestFilterAsksEveryCommitOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 5*stride + 7
	r, ids := line(t, n)
	x, err := Compile(`description(substring:"7")`, &Scope{Aliases: dsl.NewAliases(Parse)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.IDs(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	var want []repo.CommitID
	for i := n - 1; i >= 0; i-- {
		if strings.Contains(fmt.Sprint(i), "7") {
			want = append(want, ids[i])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d commits, not the %d described so, newest first", len(got), len(want))
	}

	// Two cannot be read: the newer one is told, whoever met it first.
	r.Store = unread{r.Store, []repo.CommitID{ids[10], ids[n-2*stride]}}
	if _, err := r.IDs(t.Context(), x); err == nil || !strings.Contains(err.Error(), ids[n-2*stride].Hex()) {
		t.Errorf("the error is %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.IDs(stopped, x); err == nil {
		t.Error("it goes on for somebody who is gone")
	}
}
