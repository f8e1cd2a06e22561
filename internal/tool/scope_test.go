package tool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/fault"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// house makes a granted folder with secrets in it, a read-only folder, and a folder outside.
func house(t *testing.T) (in, outside string, s *Scope) {
	t.Helper()
	base := t.TempDir()
	in, ro := filepath.Join(base, "code"), filepath.Join(base, "docs")
	outside = filepath.Join(base, "private")
	put(t, filepath.Join(in, "a.txt"), "inside")
	put(t, filepath.Join(in, ".env"), "KEY=1")
	put(t, filepath.Join(in, "deep", "secrets", "x"), "s")
	put(t, filepath.Join(ro, "r.txt"), "read me")
	put(t, filepath.Join(outside, "p.txt"), "outside")
	for link, target := range map[string]string{"out": outside, "file": filepath.Join(outside, "p.txt"), "innocent": ".env", "ok": "a.txt"} {
		if err := os.Symlink(target, filepath.Join(in, link)); err != nil {
			t.Fatal(err)
		}
	}
	return in, outside, NewScope([]Folder{{Path: in}, {Path: ro, ReadOnly: true}})
}

// Every way out that an agent may try, and what it gets.
func TestEscapesAreRefused(t *testing.T) {
	in, outside, s := house(t)
	for _, c := range []struct {
		path  string
		write bool
	}{
		{"../private/p.txt", false}, {filepath.Join(outside, "p.txt"), false}, {"deep/../../private/p.txt", false},
		{"out/p.txt", false}, {"file", false}, {"out/new.txt", true}, {"file", true},
		{".env", false}, {".env", true}, {"innocent", false}, {"deep/secrets/x", false}, {"deep/Secrets/y", true},
		{".env.local", true}, {"server.pem", true}, {".ssh/id_rsa", true}, {"a\x00b", false},
		{"../docs/r.txt", true}, {"/etc/passwd", false}, {"/proc/self/environ", false},
	} {
		if p, err := s.Locate(in, c.path, c.write); err == nil {
			t.Errorf("%s (write %v) is at %+v", c.path, c.write, p)
		} else if k := fault.KindOf(err); k != fault.Denied && k != fault.Invalid {
			t.Errorf("%s: %v is of kind %v", c.path, err, k)
		}
	}
	for path, want := range map[string]string{"a.txt": "inside", "ok": "inside", "./deep/../a.txt": "inside", "../docs/r.txt": "read me"} {
		p, err := s.Locate(in, path, false)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if b, err := p.ReadFile(100); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", path, b, err)
		}
	}
}

// A link that is put in place between looking and opening leads nowhere.
func TestLinkSwappedAfterLooking(t *testing.T) {
	in, outside, s := house(t)
	p, err := s.Locate(in, "later.txt", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "p.txt"), filepath.Join(in, "later.txt")); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteFile([]byte("gotcha")); err == nil {
		t.Error("it wrote through the link")
	}
	if _, err := p.ReadFile(100); err == nil {
		t.Error("it read through the link")
	}
	if b, _ := os.ReadFile(filepath.Join(outside, "p.txt")); string(b) != "outside" {
		t.Errorf("the file outside is %q", b)
	}
	// The same with a link that stays inside and points at a secret.
	q, err := s.Locate(in, "later2.txt", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".env", filepath.Join(in, "later2.txt")); err != nil {
		t.Fatal(err)
	}
	if b, err := q.ReadFile(100); err == nil {
		t.Errorf("it read %q", b)
	}
}

func TestWriteFileReplacesWhole(t *testing.T) {
	in, _, s := house(t)
	if err := os.Chmod(filepath.Join(in, "a.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, _ := s.Locate(in, "a.txt", true)
	if err := p.WriteFile([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Stat(filepath.Join(in, "a.txt")); st.Mode().Perm() != 0o755 {
		t.Errorf("mode %v", st.Mode())
	}
	p, err := s.Locate(in, "n/e/w.txt", true)
	if err != nil || p.WriteFile([]byte("x")) != nil {
		t.Fatalf("new folders: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(in, "*.tandem-new"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	var pe *os.PathError
	q, _ := s.Locate(in, "missing", false)
	if _, err := q.ReadFile(1); !fault.Is(err, fault.NotFound) || errors.As(err, &pe) {
		t.Errorf("%v", err)
	}
	big, _ := s.Locate(in, "a.txt", false)
	if _, err := big.ReadFile(2); err == nil || !strings.Contains(err.Error(), "3 bytes") {
		t.Errorf("%v", err)
	}
}

// seeing is a sight in which trees are hidden or fixed by a person.
func seeing(hidden, fixed, shown []string) *Sight {
	in := func(list []string, p string) (longest int) {
		for _, l := range list {
			if p == l || strings.HasPrefix(p, l+"/") {
				longest = max(longest, len(l))
			}
		}
		return longest
	}
	return &Sight{Of: func(p string) Seen {
		if h := in(hidden, p); h > in(shown, p) {
			return Seen{Hidden: true, By: "grant:g"}
		}
		if f := in(fixed, p); f > in(shown, p) {
			return Seen{Fixed: true, By: "grant:g"}
		}
		return Seen{}
	}, Edges: func(folder string) (out []string) {
		for _, p := range slices.Concat(hidden, fixed, shown) {
			if strings.HasPrefix(p, folder+"/") {
				out = append(out, p)
			}
		}
		return out
	}}
}

// A folder that is too large to be looked through is masked by what policy names, in every spelling that is there: where case does not
// count, all of them are that place, and policy denies each.
func TestTreesInEverySpelling(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"src/Priv/p", "SRC/PRIV/p", "src/open", "other/priv/p"} {
		put(t, filepath.Join(dir, f), f)
	}
	denied := Slashed(filepath.Join(dir, "src/priv"))
	scope := NewScope([]Folder{{Path: dir}}).Seeing(&Sight{
		Of: func(p string) Seen {
			return Seen{Hidden: strings.HasPrefix(strings.ToLower(p)+"/", strings.ToLower(denied)+"/"), By: "grant:no"}
		},
		Edges: func(string) []string { return []string{denied} }})
	hidden := map[string]bool{}
	for _, m := range scope.Trees() {
		if rel, _ := filepath.Rel(dir, m.Path); m.How == Hide {
			hidden[rel] = true
		}
	}
	if all, _ := os.ReadDir(dir); len(all) == 3 && (len(hidden) != 2 || !hidden["src/Priv"] || !hidden["SRC/PRIV"]) || len(hidden) == 0 {
		t.Errorf("%v", hidden)
	}
}

// A sandbox is told what to hide and fix, the outer first; folders above a person's mask are pinned, so that nobody renames the denial
// away.
func TestMasks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"a.txt", ".env", "src/x/priv/p", "src/x/open", "src/.env", "gen/g", "gen/hand/h", "cust/ann", "cust/pub/list",
		"repo/.git/HEAD", "repo/in/p", "repo/ok", "other/.git/HEAD"} {
		put(t, filepath.Join(dir, f), f)
	}
	at := func(p string) string { return Slashed(filepath.Join(dir, p)) }
	scope := NewScope([]Folder{{Path: dir}}).Seeing(seeing([]string{at("src/x/priv"), at("cust"), at("repo/in")}, []string{at("gen")},
		[]string{at("cust/pub"), at("gen/hand")}))
	masks, err := scope.Masks()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range masks {
		rel, _ := filepath.Rel(dir, m.Path)
		got = append(got, [...]string{"hide", "fix", "show"}[m.How]+" "+rel)
	}
	want := "hide .env, hide cust, show cust/pub, fix gen, show gen/hand, show repo, hide repo/.git, hide repo/in, show src, " +
		"hide src/.env, show src/x, hide src/x/priv"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
	// A folder that was granted for reading stays so, also where it is shown again.
	ro := NewScope([]Folder{{Path: dir, ReadOnly: true}}).Seeing(seeing([]string{at("cust")}, nil, []string{at("cust/pub")}))
	if masks, err = ro.Masks(); err != nil || len(masks) != 4 || masks[2].How != Fix {
		t.Errorf("%+v %v", masks, err)
	}
}

// A link out of a granted folder told a person to grant the folder that was granted already: it names where the link leads.
func TestALinkOutNamesWhereItLeads(t *testing.T) {
	in, outside, s := house(t)
	for _, path := range []string{"out/p.txt", "file"} {
		_, err := s.Locate(in, path, false)
		if p := fault.Public(err); !strings.Contains(p.Msg, "a link to "+filepath.Join(outside, "p.txt")) ||
			p.Next != "a person can grant it: tandem grant folder "+outside {
			t.Errorf("%s: %q, next: %q", path, p.Msg, p.Next)
		}
	}
}
