package repo

import "testing"

func testIdentity() *Identity {
	now := func() Timestamp { return Timestamp{Millis: 1_000_000_000_000} }
	return &Identity{Name: "a", Email: "a@example.com", Now: now, OpNow: now, NewChangeID: SeededChangeIDs(1)}
}

// A description that goes back and forth within a second makes a new commit
// each time, never one that was there before.
func TestRewritesWithinASecondAreDistinct(t *testing.T) {
	s := NewOverlay(nil)
	r := &Repo{Store: s, Operation: RootOperation(), View: RootView(), Index: NewIndex()}
	who := testIdentity()
	seen := map[CommitID]bool{}
	for i, text := range []string{"", "x", "y", "x", "y", "x"} {
		tx := r.Begin(who)
		if i == 0 {
			if _, err := tx.CheckOut(t.Context(), DefaultWorkspace, RootCommit()); err != nil {
				t.Fatal(err)
			}
		} else {
			c, err := r.Workspace(t.Context(), DefaultWorkspace)
			if err != nil {
				t.Fatal(err)
			}
			d, err := tx.Rewrite(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			d.Description = text
			if _, err := tx.Write(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tx.RebaseDescendants(t.Context(), RebaseOptions{}); err != nil {
			t.Fatal(err)
		}
		var err error
		if r, err = tx.Finish(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		id := r.View.Workspaces[DefaultWorkspace]
		if seen[id] {
			t.Fatalf("step %d made commit %s again", i, id)
		}
		seen[id] = true
	}
	if len(r.View.Heads) != 1 {
		t.Errorf("%d heads after rewriting one commit", len(r.View.Heads))
	}
}
