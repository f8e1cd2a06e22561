package peer

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// A leased path is somebody else's for everybody but its holder, in every
// folder of this machine where its space is at work; a leased folder holds what
// is below it; leaving gives it back.
func TestHeld(t *testing.T) {
	h := newHouse(t)
	a, b := t.TempDir(), t.TempDir()
	seated(h, "ann")
	h.folder = a
	do[Said](h, "ann", "space.leave", nil)
	c := do[Created](h, "ann", "space.create", CreateIn{Name: "leases"})
	h.folder = b
	do[Joined](h, "bob", "space.join", JoinIn{Code: c.Code})
	do[Leases](h, "ann", "space.reserve", ReserveIn{Path: "src/auth/"})
	do[Leases](h, "bob", "space.reserve", ReserveIn{Path: "docs/a.md"})
	do[Leases](h, "ann", "space.reserve", ReserveIn{})
	// A lease below another's folder, or around another's file, was granted and switched the other off.
	for _, p := range []string{"src/auth/token.go", "src/./auth", "src//auth/x", "src", "**/token.go", "docs"} {
		who := "bob"
		if p == "docs" {
			who = "ann"
		}
		h.contains(h.refused(who, "space.reserve", ReserveIn{Path: p}, fault.Conflict), "is leased to")
	}
	held := func(who string, files ...string) string {
		return Caution(h.peers.Held(op.CallerFrom(h.as(who)), files))
	}
	for _, c := range []struct {
		who, file, want string
	}{
		{"ann", filepath.Join(a, "src/auth/token.go"), ""},
		{"bob", filepath.Join(b, "src/auth/token.go"), "src/auth/token.go is leased to mem_"},
		{"bob", filepath.Join(b, "src/auth"), "src/auth is leased to mem_"},
		{"bob", filepath.Join(b, "src/authority.go"), ""},
		{"bob", filepath.Join(b, "docs/a.md"), ""},
		{"ann", filepath.Join(a, "docs/a.md"), "docs/a.md is leased to mem_"},
		{"stranger", filepath.Join(a, "docs/a.md"), "docs/a.md is leased to mem_"},
		{"bob", "/elsewhere/src/auth/token.go", ""},
	} {
		if got := held(c.who, c.file); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s: %q, want %q", c.who, c.file, got, c.want)
		}
	}
	do[Said](h, "ann", "space.leave", nil)
	eventually(t, "ann's leases ending", func() bool { return held("bob", filepath.Join(b, "src/auth/token.go")) == "" })
}

// A host sees tags alone, and refuses by them what a member's own program should
// not have sent.
func TestAHostRefusesLeasesInsideOthers(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob")
	do[Leases](h, "ann", "space.reserve", ReserveIn{Path: "src/auth"})
	do[Leases](h, "ann", "space.reserve", ReserveIn{Path: "docs/deep/a.md"})
	for _, s := range h.peers.all() { // a program that does not look
		eventually(t, "both leases being known", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.paths) == 2
		})
		s.mu.Lock()
		clear(s.paths)
		s.mu.Unlock()
	}
	for _, p := range []string{"src/auth/token.go", "src/auth", "docs", "docs/deep", "SRC/Auth", "Src/auth/Token.go", "Docs"} {
		h.contains(h.refused("bob", "space.reserve", ReserveIn{Path: p}, fault.Conflict), "that path is leased to")
	}
	do[Leases](h, "bob", "space.reserve", ReserveIn{Path: "src/authority"})
	do[Leases](h, "bob", "space.reserve", ReserveIn{Path: "docs/other"})
}

// A commit that an agent makes is the agent's, though git runs its hook as a program of the person.
func TestTheGuardKnowsWhoseCommitItIs(t *testing.T) {
	h := newHouse(t)
	agent := op.CallerFrom(h.local())
	agent.Actor, agent.Name, agent.Kind, agent.Via, agent.Client.ID = "act_mcp", "mcp", op.Agent, "act_local", "71.4242.x"
	as := op.WithCaller(t.Context(), agent)
	by[Created](h, as, "space.create", CreateIn{Name: "work"})
	by[Leases](h, as, "space.reserve", ReserveIn{Path: "src"})
	for _, c := range []struct {
		parents []int
		held    int
	}{{nil, 1}, {[]int{9, 17}, 1}, {[]int{9, 4242}, 0}} {
		got := by[Guarded](h, h.local(), "space.guard", GuardIn{Folder: h.dir, Paths: []string{"src/a.go", "b.go"}, Parents: c.parents})
		if len(got.Held) != c.held || c.held == 1 && (got.Held[0].File != "src/a.go" || got.Held[0].Space != "work") {
			t.Errorf("below %v: %+v", c.parents, got.Held)
		}
	}
}

// Several share a path, each with a lease of its own: they work on it together, whoever has none is held up, and nobody gets it alone.
func TestSharedLeases(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy")
	share := func(who, path string) Leases {
		return do[Leases](h, who, "space.reserve", ReserveIn{Path: path, Shared: true})
	}
	refused := func(who string, in ReserveIn) {
		t.Helper()
		h.contains(h.refused(who, "space.reserve", in, fault.Conflict), "leased to")
	}
	share("ann", "docs")
	h.contains(share("bob", "docs").Text, "docs: ann, shared, until", "docs: bob, shared, until")
	share("bob", "docs/deep")
	refused("cy", ReserveIn{Path: "docs/a.md"})
	refused("ann", ReserveIn{Path: "docs"})
	do[Leases](h, "ann", "space.reserve", ReserveIn{Path: "src"})
	refused("bob", ReserveIn{Path: "src/a.go", Shared: true})
	do[Leases](h, "cy", "space.leases", Which{})
	held := func(who, file string, want bool) {
		t.Helper()
		eventually(t, "what is held being known", func() bool {
			return want == (Caution(h.peers.Held(op.CallerFrom(h.as(who)), []string{filepath.Join(h.dir, file)})) != "")
		})
	}
	held("ann", "docs/a.md", false)
	held("bob", "docs/deep/b.md", false)
	held("cy", "docs/a.md", true)
	held("bob", "src/a.go", true)

	// The host keeps to it by itself, too, and one part of a lease ends without the other.
	for _, s := range h.peers.all() {
		s.mu.Lock()
		clear(s.paths)
		s.mu.Unlock()
	}
	refused("cy", ReserveIn{Path: "docs/deep"})
	refused("cy", ReserveIn{Path: "src", Shared: true})
	do[Said](h, "bob", "space.release", ReleaseIn{Path: "docs/deep"})
	do[Said](h, "bob", "space.release", ReleaseIn{Path: "docs"})
	refused("cy", ReserveIn{Path: "docs"})
	share("cy", "docs")
	do[Said](h, "cy", "space.release", ReleaseIn{Path: "docs"})
	do[Leases](h, "ann", "space.reserve", ReserveIn{Path: "docs"}) // hers alone from now on
	refused("bob", ReserveIn{Path: "docs", Shared: true})
}
