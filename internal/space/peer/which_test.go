package peer

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// A person is in several spaces, says which one is meant, and is told which one was taken when nothing was said.
func TestAPersonIsInSeveralSpaces(t *testing.T) {
	h := newHouse(t)
	in := func(folder string) context.Context {
		c := op.CallerFrom(h.local())
		c.Client.Folder = filepath.Join(h.dir, folder)
		return op.WithCaller(t.Context(), c)
	}
	one := by[Created](h, in("one"), "space.create", CreateIn{Name: "one"})
	two := by[Created](h, in("two"), "space.create", CreateIn{Name: "two"})
	by[Tasked](h, in("one"), "board.add", AddIn{Title: "of one"})
	by[Tasked](h, in("elsewhere"), "board.add", AddIn{Title: "of two"})
	for name, c := range map[string]struct {
		who         context.Context
		which       string
		want, taken string
	}{
		"by name":            {in("two"), "one", "of one", ""},
		"by id":              {in("one"), two.Space, "of two", ""},
		"by folder":          {in("one/below"), "", "of one", "one"},
		"the last one":       {in("onerous"), "", "of two", "two"},
		"the panel, by name": {h.panel(), "one", "of one", ""},
	} {
		got := by[BoardOut](h, c.who, "board.show", BoardIn{Which: Which{c.which}})
		if len(got.Tasks) != 1 || got.Tasks[0].Title != c.want || got.Space != c.taken {
			t.Errorf("%s: %+v, in %q", name, got.Tasks, got.Space)
		}
	}
	_, err := h.gate.Invoke(h.panel(), "board.show", BoardIn{Which: Which{"three"}})
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), `no space called "three"`) {
		t.Errorf("a space that is none: %v", err)
	}
	// A name that is changed is changed everywhere.
	do[Joined](h, "ann", "space.join", JoinIn{Code: one.Code})
	do[Joined](h, "bob", "space.join", JoinIn{Code: two.Code})
	by[Who](h, h.panel(), "space.rename", RenameIn{Name: "Pat"})
	for _, who := range []string{"ann", "bob"} {
		h.contains(do[Peers](h, who, "space.peers", nil).Text, "Pat")
	}
	// Nobody joins a space twice, and the seat that they have stays.
	code := do[Invited](h, "ann", "space.invite", InviteIn{}).Code
	if _, err := h.gate.Invoke(h.panel(), "space.join", JoinIn{Code: code}); !fault.Is(err, fault.Conflict) {
		t.Errorf("joined twice: %v", err)
	}
	if n := len(by[Seats](h, h.local(), "space.list", nil).Seats); n != 2 {
		t.Errorf("%d seats", n)
	}
	// Leaving one leaves the other.
	by[Said](h, h.local(), "space.leave", Which{"two"})
	if got := by[BoardOut](h, h.panel(), "board.show", nil); got.Space != "" || got.Tasks[0].Title != "of one" {
		t.Errorf("%+v", got)
	}
	// An agent has one.
	h.contains(h.refused("ann", "space.create", CreateIn{}, fault.Conflict), "Already connected")
}
