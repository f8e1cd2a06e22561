package box

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/internal/fault"
)

// There is no Mac among the machines on which this is tested. So the profile is read here as Seatbelt reads one: the last rule that speaks
// of an operation and a path decides.
var spoken = regexp.MustCompile(`^\((allow|deny) ([a-z* -]+) \((subpath|literal) "((?:[^"\\]|\\.)*)"\)\)$`)

func lets(text, what, path string) bool {
	for _, l := range slices.Backward(strings.Split(strings.TrimSpace(text), "\n")) {
		r := spoken.FindStringSubmatch(l)
		if r == nil {
			continue
		}
		at := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(r[4])
		says := slices.ContainsFunc(strings.Fields(r[2]), func(op string) bool {
			group, all := strings.CutSuffix(op, "*")
			return op == what || all && strings.HasPrefix(what, group)
		})
		if says && (at == path || r[3] == "subpath" && Below(at, path)) {
			return r[1] == "allow"
		}
	}
	return false // (deny default)
}

// held is what the contract says of a path: the mount on top decides, and masks lie over all.
func held(b Box, hidden []string, path string) (read, write bool) {
	if slices.ContainsFunc(hidden, func(h string) bool { return Below(h, path) }) {
		return false, false
	}
	for _, m := range slices.Backward(b.Mounts) {
		if Below(m.at(), path) {
			return m.From != "", m.From != "" && m.Write
		}
	}
	return false, false
}

// Whatever a box shows, hides and keeps, Seatbelt is told the same, and nothing that a rule speaks of can be moved from under it.
func TestSeatbeltIsToldTheBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.Custom(func(t *rapid.T) string {
			return "/work/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", `q"uo\te`, ".git"}), 1, 4).Draw(t, "names"), "/")
		})
		var b Box
		for range rapid.IntRange(0, 5).Draw(t, "mounts") {
			at := place.Draw(t, "at")
			b.Mounts = append(b.Mounts, rapid.SampledFrom([]Mount{{From: at, At: at}, {From: at, At: at, Write: true}, Empty(at)}).Draw(t, "mount"))
		}
		hidden := rapid.SliceOfN(place, 0, 3).Draw(t, "hidden")
		text, err := profile(b, hidden, nil)
		if err != nil {
			t.Fatal(err)
		}
		path := place.Draw(t, "path")
		read, write := held(b, hidden, path)
		if got := lets(text, "file-read-data", path); got != read {
			t.Fatalf("reading %s: %v, and the box says %v\n%s", path, got, read, text)
		}
		if got := lets(text, "file-write-data", path); got != write {
			t.Fatalf("changing %s: %v, and the box says %v\n%s", path, got, write, text)
		}
		for _, kept := range append(b.shown(nil), hidden...) {
			for up := kept; up != "/"; up = filepath.Dir(up) {
				if lets(text, "file-write-unlink", up) || lets(text, "file-link", up) {
					t.Fatalf("%s can be moved, and %s with it\n%s", up, kept, text)
				}
			}
		}
	})
}

// Beside what a box names there is the system, read-only, and nothing of the person's; the network when it was granted, and then no socket
// of another program.
func TestSeatbeltShowsTheSystemAlone(t *testing.T) {
	for _, network := range []bool{false, true} {
		text, err := profile(Box{Network: network}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]bool{"/usr/bin/git": true, "/bin/sh": true, "/private/etc/hosts": true, "/dev/null": true,
			"/Users/somebody/.ssh/id_ed25519": false, "/Library/Keychains/System.keychain": false, "/private/etc/master.passwd": false,
			"/private/var/folders/zz": false, "/private/tmp/x": false, "/Volumes/Disk": false, "/dev/disk0": false} {
			if got := lets(text, "file-read-data", path); got != want {
				t.Errorf("reading %s: %v", path, got)
			}
			if lets(text, "file-write-data", path) != (path == "/dev/null") || lets(text, "file-write-create", path) {
				t.Errorf("%s can be changed", path)
			}
		}
		if !strings.HasPrefix(text, "(version 1)\n(deny default)\n") || strings.Contains(text, "(allow default)") ||
			strings.Contains(text, "network") != network || strings.Contains(text, "(allow network*)") {
			t.Errorf("network %v:\n%s", network, text)
		}
	}
}

// The command is sandbox-exec with that profile, over real places; what cannot be told is not started.
func TestSeatbeltStartsSandboxExec(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"work/.git/config": "", "work/.env": "KEY",
		"sandbox-exec": "#!/bin/sh\nprintf '%s\\n' \"$@\" \"HOME $HOME\"; test -d \"$HOME\" && pwd\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	work, link := filepath.Join(dir, "work"), filepath.Join(dir, "link")
	if err := os.Symlink(work, link); err != nil {
		t.Fatal(err)
	}
	m := &Machine{Kind: Seatbelt, seatbelt: filepath.Join(dir, "sandbox-exec")}
	b := Box{Argv: []string{"/bin/sh", "-c", "true"}, Dir: work, Mounts: Write(link),
		Masks: []string{filepath.Join(link, ".env"), filepath.Join(link, "none")}}
	b.Mounts = append(b.Mounts, Mount{From: filepath.Join(work, ".git"), Write: true}, Mount{From: filepath.Join(work, ".git", "config")},
		Mount{From: filepath.Join(work, "gone"), Optional: true})
	cmd, done, err := m.Command(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.Output()
	done()
	out := string(said)
	if err != nil || !strings.HasPrefix(out, "-p\n(version 1)\n") || !strings.HasSuffix(out, "\n"+work+"\n") ||
		!strings.Contains(out, "\n/bin/sh\n-c\ntrue\nHOME ") {
		t.Fatalf("%v: %s", err, out)
	}
	for what, want := range map[string]bool{"file-read-data " + work + "/a": true, "file-write-create " + work + "/a": true,
		"file-read-data " + work + "/.env": false, "file-write-create " + work + "/.env": false, "file-read-metadata " + link: true,
		"file-write-data " + work + "/.git/config": false, "file-read-data " + work + "/.git/config": true,
		"file-write-create " + work + "/.git/objects": true, "file-write-unlink " + work + "/.git": false, "file-read-data " + dir: false} {
		op, path, _ := strings.Cut(what, " ")
		if got := lets(out, op, path); got != want {
			t.Errorf("%s: %v\n%s", what, got, out)
		}
	}
	_, home, _ := strings.Cut(out, "HOME ")
	if home, _, _ = strings.Cut(home, "\n"); there(home) {
		t.Errorf("%s is left", home)
	}
	for name, b := range map[string]Box{
		"elsewhere":    {Mounts: []Mount{{From: work, At: "/srv"}}},
		"terminal":     {Terminal: true},
		"a newline":    {Mounts: Write(newline(t, dir))},
		"far too much": {Mounts: many(work, 10_000)},
	} {
		b.Argv, b.Dir = []string{"/bin/sh"}, work
		if _, _, err := m.Command(context.Background(), b); !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Exhausted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func newline(t *testing.T, dir string) string {
	path := filepath.Join(dir, "two\nlines")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func many(work string, n int) (out []Mount) {
	for range n {
		out = append(out, Mount{From: work})
	}
	return out
}

// On a machine that is no Mac it is not there, and says so; it is never taken unasked.
func TestSeatbeltIsTakenByName(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("this is a Mac")
	}
	m, err := Find(t.Context(), Seatbelt)
	if err != nil || m.Kind != None || !strings.Contains(m.Why, "only macOS has it") {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := Find(t.Context(), Any); m.Kind == Seatbelt || err != nil && !fault.Is(err, fault.Unavailable) { // too busy to tell
		t.Errorf("%v, %v", m, err)
	}
}
