package job

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"tandem/internal/db"
	"tandem/internal/job/prepare"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// registry is a registry on loopback: it answers with what it was given, and counts.
type registry struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte
	asked map[string]int
}

func newRegistry(t *testing.T) *registry {
	r := &registry{files: map[string][]byte{}, asked: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.asked[q.URL.Path]++
		if data, there := r.files[q.URL.Path]; there {
			w.Write(data) //nolint:errcheck // the client's
			return
		}
		http.NotFound(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *registry) count() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.asked {
		n += k
	}
	return n
}

// module publishes a version of a Go module, as a GOPROXY serves it, and gives its lines of a go.sum.
func (r *registry) module(t *testing.T, path, version, code string) string {
	t.Helper()
	v := module.Version{Path: path, Version: version}
	mod := "module " + path + "\n\ngo 1.21\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": mod, "lib.go": code} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := modzip.CreateFromDir(&packed, v, dir); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "z.zip")
	if err := os.WriteFile(at, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sum, err := dirhash.HashZip(at, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(mod)), nil })
	if err != nil {
		t.Fatal(err)
	}
	r.files["/"+path+"/@v/"+version+".zip"], r.files["/"+path+"/@v/"+version+".mod"] = packed.Bytes(), []byte(mod)
	return fmt.Sprintf("%s %s %s\n%s %s/go.mod %s\n", path, version, sum, path, version, modSum)
}

// pack publishes a version of an npm package, and gives its entry of a package-lock.json.
func (r *registry) pack(t *testing.T, name, version, manifest string, files map[string]string) map[string]any {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	all := map[string]string{"package.json": manifest}
	for n, text := range files {
		all[n] = text
	}
	for n, text := range all {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + n, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text) //nolint:errcheck // Close says so
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := "/" + name + "/-/" + name + "-" + version + ".tgz"
	r.files[path] = packed.Bytes()
	sum := sha512.Sum512(packed.Bytes())
	return map[string]any{"version": version, "resolved": r.URL + path, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
}

// fetching is a room whose repository has these files in its base, and whose checks have what a registry gives.
func fetching(t *testing.T, check string, r *registry, kind prepare.Kind, base map[string]string) *alone {
	t.Helper()
	a := newAlone(t, check)
	home := filepath.Dir(a.repo)
	a.Rooms, a.Box.Kit = nobody{}, tool.FindKit(home, os.Getenv("PATH"), "")
	a.Needed = &prepare.Store{Folder: filepath.Join(home, "needed"), Registries: prepare.Registries{kind: r.URL}, Box: a.Box}
	for name, text := range base {
		a.write(name, text)
	}
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "base")
	a.stands(func(j *Job) { j.Base, j.Commit = a.git("rev-parse", "HEAD"), a.git("rev-parse", "HEAD") })
	return a
}

// next has the job checked once, on files that it changed.
func (a *alone) next(files map[string]string) *Job {
	a.t.Helper()
	for name, text := range files {
		a.write(name, text)
	}
	a.git("add", "-A")
	a.git("commit", "-q", "--allow-empty", "-m", "work")
	a.stands(func(j *Job) {
		j.State, j.Commit, j.Verdict, j.Reds = wire.Checking, a.git("rev-parse", "HEAD"), wire.Unchecked, 0
	})
	return a.stepped()
}

// stepped takes one step.
func (a *alone) stepped() *Job {
	a.t.Helper()
	if err := a.step(a.t.Context(), a.job, &worker{woken: make(chan struct{}, 1)}); err != nil {
		a.t.Fatal(err)
	}
	j, err := a.get(a.t.Context(), "t", "job_1")
	if err != nil {
		a.t.Fatal(err)
	}
	a.job = j
	return j
}

func (a *alone) said() string {
	all, err := a.evidence(a.t.Context(), "t", "job_1")
	if err != nil || len(all) == 0 {
		return fmt.Sprint("no evidence ", err)
	}
	return all[len(all)-1].Output
}

// A check with the real go program finds the modules of its go.sum, which came from the named registry once. It cannot change them. A
// go.sum that the job changed waits for a person, once.
func TestModulesAreFetchedForChecks(t *testing.T) {
	r := newRegistry(t)
	old := r.module(t, "example.com/greet", "v1.0.0", "package greet\n\nconst Word = \"hello\"\n")
	base := map[string]string{
		"go.mod": "module example.org/app\n\ngo 1.21\n\nrequire example.com/greet v1.0.0\n", "go.sum": old,
		"app.go": "package app\n\nimport \"example.com/greet\"\n\nconst fits = 1 / (len(greet.Word) - 4)\n"} // without the
	// standard library, which an empty cache would have compiled
	const check = `go build ./... && ! touch "$(go env GOMODCACHE)/mine" 2>/dev/null && ` +
		`! sh -c "echo x >> $(go list -m -f '{{.Dir}}' example.com/greet)/lib.go" 2>/dev/null`
	a := fetching(t, check, r, prepare.Go, base)
	if j := a.next(map[string]string{"a.txt": "1"}); j.State != wire.Review || j.Verdict != wire.Green {
		t.Fatalf("it is %s: %s\n%s", j.State, j.Reason, a.said())
	}
	if r.count() != 2 {
		t.Errorf("the registry was asked %v", r.asked)
	}
	if j := a.next(map[string]string{"a.txt": "2"}); j.Verdict != wire.Green || r.count() != 2 {
		t.Errorf("it is %s: %s, and the registry was asked %v", j.State, j.Reason, r.asked)
	}
	// somebody wrote into what was kept: it is fetched anew
	kept, err := filepath.Glob(filepath.Join(a.Needed.Folder, "*", "example.com", "greet@v1.0.0", "lib.go"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v %v", kept, err)
	}
	if err := os.Chmod(kept[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept[0], []byte("package greet\n\nconst Word = \"bad\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if j := a.next(map[string]string{"a.txt": "3"}); j.Verdict != wire.Green || r.count() != 4 {
		t.Errorf("it is %s: %s, and the registry was asked %v\n%s", j.State, j.Reason, r.asked, a.said())
	}

	newer := r.module(t, "example.com/greet", "v1.1.0", "package greet\n\nconst Word = \"hello\"\n")
	up := map[string]string{"go.mod": strings.ReplaceAll(base["go.mod"], "v1.0.0", "v1.1.0"), "go.sum": newer}
	j := a.next(up)
	if j.State != wire.Stopped || j.Lock == nil || strings.Join(j.Lock.New, ",") != "example.com/greet v1.1.0" || r.count() != 4 {
		t.Fatalf("it is %s: %s, %+v, and the registry was asked %v", j.State, j.Reason, j.Lock, r.asked)
	}
	allow := func(digest string) error {
		return a.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := a.allow(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann"}), tx, wire.PrepareIn{ID: "job_1", Lock: digest})
			return err
		})
	}
	if allow("another") == nil {
		t.Error("another lock file's digest was taken")
	}
	if err := allow(j.Lock.Digest); err != nil {
		t.Fatal(err)
	}
	if j = a.next(up); j.State != wire.Review || j.Verdict != wire.Green || j.Lock != nil || r.count() != 6 {
		t.Fatalf("it is %s: %s\n%s\n%v", j.State, j.Reason, a.said(), r.asked)
	}
	if j = a.next(map[string]string{"a.txt": "4"}); j.Verdict != wire.Green || r.count() != 6 {
		t.Errorf("it was asked again: %s: %s", j.State, j.Reason)
	}

	// What the registry gives is compared with go.sum.
	forged := r.module(t, "example.com/greet", "v1.2.0", "package greet\n\nconst Word = \"hello\"\n")
	r.module(t, "example.com/greet", "v1.2.0", "package greet\n\nconst Word = \"evil\"\n")
	j = a.next(map[string]string{"go.mod": strings.ReplaceAll(base["go.mod"], "v1.0.0", "v1.2.0"), "go.sum": forged})
	if err := allow(j.Lock.Digest); err != nil {
		t.Fatal(err)
	}
	if j = a.next(nil); j.State != wire.Stopped || !strings.Contains(j.Reason, "their digests differ") {
		t.Errorf("it is %s: %s", j.State, j.Reason)
	}
}

// A module that holds its dependencies is checked with these, beside one whose dependencies were fetched.
func TestAVendorFolderIsRead(t *testing.T) {
	r := newRegistry(t)
	const code = "package app\n\nimport \"example.com/greet\"\n\nconst fits = 1 / (len(greet.Word) - 4)\n"
	const mod = "module example.org/app\n\ngo 1.21\n\nrequire example.com/greet v1.0.0\n"
	sums := r.module(t, "example.com/greet", "v1.0.0", "package greet\n\nconst Word = \"hello\"\n")
	held := strings.ReplaceAll(mod, "greet v1.0.0", "held v1.0.0")
	a := fetching(t, "go build ./... && cd own && go build ./...", r, prepare.Go, map[string]string{
		"go.mod": mod, "go.sum": sums, "app.go": code, "own/go.mod": held, "own/app.go": strings.ReplaceAll(code, "greet", "held"),
		"own/vendor/modules.txt":              "# example.com/held v1.0.0\n## explicit; go 1.21\nexample.com/held\n",
		"own/vendor/example.com/held/held.go": "package held\n\nconst Word = \"hello\"\n",
	})
	if j := a.next(map[string]string{"a.txt": "1"}); j.State != wire.Review || j.Verdict != wire.Green {
		t.Errorf("it is %s: %s\n%s", j.State, j.Reason, a.said())
	}
}

// A check that lacks a module of its lock file says so. It is no work for the agent; what no lock file names is, whatever a test prints.
func TestWantOfADependencyIsNotSentBack(t *testing.T) {
	r := newRegistry(t)
	sums := r.module(t, "example.com/greet", "v1.0.0", "package greet\n\nconst Word = \"hello\"\n")
	a := fetching(t, "GOPROXY=off go build ./... && cat said && false", r, prepare.NPM, map[string]string{"go.sum": sums,
		"go.mod": "module example.org/app\n\ngo 1.21\n\nrequire example.com/greet v1.0.0\n",
		"app.go": "package app\n\nimport _ \"example.com/greet\"\n", "said": "nothing"})
	j := a.next(map[string]string{"a.txt": "1"})
	if j.State != wire.Stopped || !strings.Contains(j.Reason, "lacks a Go module") || j.Reds != 0 || j.Prompt != "" {
		t.Errorf("it is %s: %s\n%s", j.State, j.Reason, a.said())
	}
	if err := a.settle(t.Context(), j, Event{Kind: Resume}); err != nil {
		t.Fatal(err)
	}
	if j, err := a.get(t.Context(), "t", "job_1"); err != nil || j.State != wire.Checking {
		t.Errorf("a resume makes it %s (%v)", j.State, err)
	}
	// what the code itself does wrong is the agent's
	a.job = j
	for _, files := range []map[string]string{
		{"app.go": "package app\n\nconst bad = 1 / (len(\"\"))\n"},
		{"app.go": "package app\n\nimport _ \"example.com/greed\"\n", "go.mod": "module example.org/app\n\ngo 1.21\n"},
		{"app.go": "package app\n", "said": "dial tcp: lookup example.com: no such host\nx.go: requires go >= 1.99 (running go 1.26)\n" +
			"other.example/mod@v1.0.0: Get \"https://proxy\nError: Cannot find module 'left-pad'\nsh: 1: jest: not found\nnpm error code 127\n"},
	} {
		if j = a.next(files); j.State != wire.SentBack {
			t.Errorf("a red test is %s: %s", j.State, j.Reason)
		}
	}
}

// A check with the real npm finds the packages of its package-lock.json, with their programs, and no script of a package ran.
func TestPackagesAreFetchedForChecks(t *testing.T) {
	r := newRegistry(t)
	script := `{"name":"greet","version":"1.0.0","bin":{"greet":"greet.js"},"scripts":{"install":"touch ran","postinstall":"touch ran"}}`
	entry := r.pack(t, "greet", "1.0.0", script, map[string]string{"index.js": "module.exports = 'hello'\n",
		"greet.js": "#!/usr/bin/env node\nconsole.log(require('./index.js'))\n"})
	entry["hasInstallScript"], entry["bin"] = true, map[string]string{"greet": "greet.js"}
	lock := func(entry map[string]any) string {
		text, err := json.Marshal(map[string]any{"name": "app", "version": "1.0.0", "lockfileVersion": 3, "packages": map[string]any{
			"":                   map[string]any{"name": "app", "version": "1.0.0", "dependencies": map[string]string{"greet": "^1.0.0"}},
			"node_modules/greet": entry}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	a := fetching(t, "npm test", r, prepare.NPM, map[string]string{"package-lock.json": lock(entry),
		"package.json": `{"name":"app","version":"1.0.0","dependencies":{"greet":"^1.0.0"},"scripts":{"test":` +
			`"greet | grep -qx hello && node test.js && ! touch node_modules/mine 2>/dev/null && test ! -e node_modules/greet/ran"}}`,
		"test.js": "if (require('greet') !== 'hello') process.exit(1)\n"})
	if j := a.next(map[string]string{"a.txt": "1"}); j.State != wire.Review || j.Verdict != wire.Green {
		t.Fatalf("it is %s: %s\n%s", j.State, j.Reason, a.said())
	}
	if j := a.next(map[string]string{"a.txt": "2"}); j.Verdict != wire.Green || r.count() != 1 {
		t.Errorf("it is %s: %s, and the registry was asked %v", j.State, j.Reason, r.asked)
	}
	// other contents under a name that the base has are shown
	forged := map[string]any{"version": "1.0.0", "resolved": entry["resolved"], "integrity": "sha512-" + strings.Repeat("A", 86) + "=="}
	if j := a.next(map[string]string{"package-lock.json": lock(forged)}); j.Lock == nil ||
		strings.Join(j.Lock.New, ",") != "greet 1.0.0 (another digest than before)" {
		t.Errorf("it is %s: %s %+v", j.State, j.Reason, j.Lock)
	}
	// what is not from the registry is not fetched, whoever allowed the lock file
	for resolved, why := range map[string]string{"https://example.com/greet.tgz": "no registry that somebody named",
		"git+ssh://git@example.com/greet.git#1234": "no registry that somebody named", r.URL + "/greet/-/greet-1.0.1.tgz": "answers 404",
		r.URL + "/evil/-/evil-6.6.6.tgz": "not its place in the registry"} {
		other := map[string]any{"version": "1.0.1", "resolved": resolved, "integrity": entry["integrity"]}
		j := a.next(map[string]string{"package-lock.json": lock(other)})
		if j.Lock == nil || strings.Join(j.Lock.New, ",") != "greet 1.0.1" {
			t.Fatalf("it is %s: %s %+v", j.State, j.Reason, j.Lock)
		}
		if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := a.allow(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann"}), tx, wire.PrepareIn{ID: "job_1", Lock: j.Lock.Digest})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if j = a.next(nil); j.State != wire.Stopped || !strings.Contains(j.Reason, why) {
			t.Errorf("%s: it is %s: %s", resolved, j.State, j.Reason)
		}
	}
}
