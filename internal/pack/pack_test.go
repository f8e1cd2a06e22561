package pack

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	automation "tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/pack/wire"
)

// shelf is a room over what a pack brings, which is kept as words.
type shelf struct {
	t *testing.T
	*Room
	on      map[string]string // automations that are on, with their text
	off     []string
	granted map[string]string
	taught  []string
	busy    string // an automation with open runs
	denied  string // a right that the caller lacks
	unread  bool   // the caller is none of the readers
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	s := &shelf{t: t, on: map[string]string{}, granted: map[string]string{}}
	s.Room = &Room{DB: d,
		Shown: func(_ context.Context, text string) (*automation.Version, error) {
			v := &automation.Version{Text: text, May: []automation.May{{Node: "a", What: "asks"}}}
			v.Name, _, _ = strings.Cut(text, " ")
			return v, nil
		},
		Has: func(_ *db.Tx, _, name string) (bool, error) {
			return s.on[name] != "" || slices.Contains(s.off, name), nil
		},
		On: func(_ context.Context, _ *db.Tx, name, text string) error {
			s.on[name] = text
			return nil
		},
		Off: func(_ context.Context, _ *db.Tx, name string) error {
			delete(s.on, name)
			s.off = append(s.off, name)
			return nil
		},
		Gone: func(_ context.Context, _ *db.Tx, name string) error {
			if name == s.busy {
				return fault.New(fault.Conflict, "test", "it has open runs")
			}
			s.off = slices.DeleteFunc(s.off, func(n string) bool { return n == name })
			return nil
		},
		Grant: func(_ context.Context, _ *db.Tx, g wire.Grant) (string, error) {
			id := "g_" + g.Automation
			s.granted[id] = g.Resource
			return id, nil
		},
		Revoke: func(_ context.Context, _ *db.Tx, id string, _ []string) error { delete(s.granted, id); return nil },
		Reads:  func(context.Context, string) (bool, error) { return !s.unread, nil },
		Teach:  func(_ context.Context, _ *db.Tx, k wire.Space) error { s.taught = append(s.taught, k.Name); return nil },
	}
	return s
}

func (s *shelf) ctx() context.Context {
	ctx := op.WithCaller(s.t.Context(), op.Caller{Tenant: "t", Name: "ann"})
	ctx = op.WithMay(ctx, func(right string, r op.Resource) bool { return right != s.denied || r.Path != "/first" })
	return op.WithAllowed(ctx, func(right string, _ op.Resource) bool { return right != s.denied })
}

// install looks at a pack and installs it.
func (s *shelf) install(p wire.Pack) error {
	s.t.Helper()
	seen, err := s.preview(s.ctx(), p)
	if err != nil {
		return err
	}
	return s.DB.Write(s.t.Context(), func(tx *db.Tx) error {
		_, err := s.Room.install(s.ctx(), tx, wire.InstallIn{Pack: p, Digest: seen.Digest, Was: seen.Installed})
		return err
	})
}

func sample(version string, automations ...string) wire.Pack {
	p := wire.Pack{Name: "sample", Version: version}
	for _, name := range automations {
		p.Automations = append(p.Automations, wire.Automation{Name: name, Text: name + " " + version})
	}
	p.Grants = []wire.Grant{{Automation: automations[0], Resource: "resource:/" + version, Permissions: []string{"read"}}}
	p.Knowledge = []wire.Space{{Name: "book", Items: []wire.Item{{Key: "one", Title: "One", Body: "x"}}}}
	return p
}

// A newer version replaces what the older one brought, and the older one can be installed again.
func TestVersionsOfAPack(t *testing.T) {
	s := newShelf(t)
	for _, p := range []wire.Pack{sample("1", "first", "second"), sample("2", "first"), sample("1", "first", "second")} {
		if err := s.install(p); err != nil {
			t.Fatalf("version %s: %v", p.Version, err)
		}
		if len(s.on) != len(p.Automations) || s.on["first"] != "first "+p.Version || len(s.off) != 0 || len(s.granted) != 1 ||
			s.granted["g_first"] != "resource:/"+p.Version {
			t.Errorf("version %s: on %v, off %v, granted %v", p.Version, s.on, s.off, s.granted)
		}
	}
	s.busy = "second"
	var out wire.RemoveOut
	if err := s.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
		out, err = s.remove(s.ctx(), tx, wire.NameIn{Name: "sample"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(s.on) != 0 || len(s.granted) != 0 || !slices.Equal(out.Removed, []string{"automation first"}) || len(out.Stays) != 2 {
		t.Errorf("removed: on %v, granted %v, %+v", s.on, s.granted, out)
	}
	if all, err := s.list(s.ctx(), struct{}{}); err != nil || len(all.Packs) != 0 {
		t.Errorf("%+v %v", all, err)
	}
}

// What was looked at is what is installed, against what was installed then.
func TestOnlyWhatWasLookedAtIsInstalled(t *testing.T) {
	s := newShelf(t)
	p := sample("1", "first")
	if err := s.install(p); err != nil {
		t.Fatal(err)
	}
	next := sample("2", "first")
	for what, in := range map[string]wire.InstallIn{
		"another digest": {Pack: next, Digest: p.Digest(), Was: p.Digest()}, "another one before": {Pack: next, Digest: next.Digest()},
	} {
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error { _, err := s.Room.install(s.ctx(), tx, in); return err })
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
	noted := p
	noted.Grants = []wire.Grant{{Automation: "first", Resource: "resource:/1", Permissions: []string{"read"}, Note: "why"}}
	noted.Knowledge = []wire.Space{{Name: "book", Items: []wire.Item{{Key: "one", Title: "Another title", Body: "x"}}}}
	seen, err := s.preview(s.ctx(), noted)
	if err != nil || !strings.Contains(seen.Changes, "+why") || !strings.Contains(seen.Changes, "Another title") {
		t.Errorf("the diff is %q, %v", seen.Changes, err)
	}
}

// A pack that is none, takes over, or needs what its installer may not do is refused, and nothing of it is there.
func TestAPackIsRefused(t *testing.T) {
	for what, c := range map[string]struct {
		change func(s *shelf, p *wire.Pack)
		kind   fault.Kind
	}{
		"a name that is a path":     {func(_ *shelf, p *wire.Pack) { p.Name = "a/b" }, fault.Invalid},
		"no name":                   {func(_ *shelf, p *wire.Pack) { p.Name = "" }, fault.Invalid},
		"no version":                {func(_ *shelf, p *wire.Pack) { p.Version = "" }, fault.Invalid},
		"an automation's path":      {func(_ *shelf, p *wire.Pack) { p.Automations[0].Name = "a/b"; p.Grants = nil }, fault.Invalid},
		"two of a name":             {func(_ *shelf, p *wire.Pack) { p.Automations = append(p.Automations, p.Automations[0]) }, fault.Invalid},
		"a grant for somebody else": {func(_ *shelf, p *wire.Pack) { p.Grants[0].Automation = "other" }, fault.Invalid},
		"another name in its text":  {func(_ *shelf, p *wire.Pack) { p.Automations[0].Text = "other 1" }, fault.Invalid},
		"one that is there":         {func(s *shelf, _ *wire.Pack) { s.on["first"] = "somebody's" }, fault.Conflict},
		"no right to switch on":     {func(s *shelf, _ *wire.Pack) { s.denied = "automation.admin" }, fault.Denied},
		"no right to grant":         {func(s *shelf, _ *wire.Pack) { s.denied = "grant.write" }, fault.Denied},
		"no right on a space":       {func(s *shelf, _ *wire.Pack) { s.denied = "knowledge.write" }, fault.Denied},
	} {
		s, p := newShelf(t), sample("1", "first")
		c.change(s, &p)
		if err := s.install(p); fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", what, err)
		}
		if len(s.granted) > 0 || len(s.taught) > 0 || strings.HasPrefix(s.on["first"], "first") {
			t.Errorf("%s: on %v, granted %v, taught %v", what, s.on, s.granted, s.taught)
		}
	}
}

// Who looked at a pack under the name of an installed one was shown that one whole: the text of automations that were denied to them, and
// documents of knowledge spaces of which they are no reader.
func TestWhatIsInstalledIsShownToWhoMayReadIt(t *testing.T) {
	s := newShelf(t)
	p := sample("1", "first", "second")
	p.Grants[0].Note, p.Knowledge[0].Items[0].Body = "a note about first", "the body of one"
	if err := s.install(p); err != nil {
		t.Fatal(err)
	}
	look := func() string {
		t.Helper()
		seen, err := s.preview(s.ctx(), wire.Pack{Name: p.Name, Version: "2"})
		if err != nil {
			t.Fatal(err)
		}
		return seen.Changes
	}
	for _, text := range []string{"-first 1", "-second 1", "-a note about first", "-the body of one"} {
		if !strings.Contains(look(), text) {
			t.Errorf("%q is not shown to who may read all:\n%s", text, look())
		}
	}
	s.denied, s.unread = "automation.read", true
	if said := look(); strings.Contains(said, "first 1") || strings.Contains(said, "a note") || strings.Contains(said, "the body") ||
		!strings.Contains(said, "-second 1") {
		t.Errorf("what they may not read is shown:\n%s", said)
	}
	s.denied = "automation.list"
	all, err := s.list(s.ctx(), struct{}{})
	if err != nil || len(all.Packs) != 1 || !slices.Equal(all.Packs[0].Automations, []string{"second"}) {
		t.Errorf("%+v %v", all, err)
	}
}
