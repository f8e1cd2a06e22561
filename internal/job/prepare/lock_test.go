package prepare

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lock file with a name that the base has, and other contents under it, tells of nothing new by its names alone.
func TestAnotherDigestIsNew(t *testing.T) {
	npm := func(entry string) File {
		return File{Kind: NPM, Text: `{"lockfileVersion":3,"packages":{"":{"name":"app"},"node_modules/lodash":{` + entry + `}}}`}
	}
	sums := func(text string) File { return File{Kind: Go, Text: text} }
	const a, lodash = "example.com/a v1.0.0 h1:old=\n", `"version":"4.17.21","integrity":"sha512-old"`
	for _, c := range []struct {
		was, is File
		want    string
	}{
		{npm(lodash), npm(lodash), ""},
		{npm(lodash), npm(`"version":"4.17.21","integrity":"sha512-new"`), "lodash 4.17.21 (another digest than before)"},
		{npm(lodash), npm(`"name":"evil",` + lodash), "evil 4.17.21 (as lodash)"},
		{npm(lodash), npm(`"name":"lodash",` + lodash), ""},
		{File{Kind: NPM}, npm(lodash), "lodash 4.17.21"},
		{sums(a), sums(strings.ReplaceAll(a, "old", "new")), "example.com/a v1.0.0 (another digest than before)"},
		{sums(a), sums(a + strings.ReplaceAll(a, "old", "new")), "example.com/a v1.0.0 (another digest than before)"},
		{sums(a), sums("example.com/c v1.0.0 h1:x=\nexample.com/b v1.0.0 h1:x=\nexample.com/a v1.0.0 h1:new=\n"),
			"example.com/a v1.0.0 (another digest than before),example.com/b v1.0.0,and 1 more"},
	} {
		if got := strings.Join(Added(c.was, c.is, 2), ","); got != c.want {
			t.Errorf("%s\n%s\nis %q, want %q", c.was.Text, c.is.Text, got, c.want)
		}
	}
}

// A package comes from the place of the name and version that a person was shown, wherever its entry points.
func TestAPackageHasOnePlace(t *testing.T) {
	const in = "https://r.example/npm"
	for _, c := range []struct{ at, name, version, resolved, want string }{
		{"lodash", "", "4.17.21", "", "/lodash/-/lodash-4.17.21.tgz"},
		{"lodash", "", "4.17.21", public + "/lodash/-/lodash-4.17.21.tgz", "/lodash/-/lodash-4.17.21.tgz"},
		{"a/node_modules/@b/c", "", "1.0.0-rc.1", in + "/@b/c/-/c-1.0.0-rc.1.tgz", "/@b/c/-/c-1.0.0-rc.1.tgz"},
		{"@b/c", "", "1.0.0", in + "/@b/c/-/@b/c-1.0.0.tgz", "/@b/c/-/@b/c-1.0.0.tgz"},
		{"@b/c", "", "1.0.0", in + "/@b%2fc/-/c-1.0.0.tgz", "/@b%2fc/-/c-1.0.0.tgz"},
		{"lodash", "other", "1.0.0", in + "/other/-/other-1.0.0.tgz", "/other/-/other-1.0.0.tgz"},
		{"lodash", "", "4.17.21", in + "/evil/-/evil-6.6.6.tgz", ""},
		{"lodash", "", "4.17.21", public + "/evil/-/lodash-4.17.21.tgz", ""},
		{"lodash", "", "4.17.21", in + "/lodash/-/lodash-4.17.20.tgz", ""},
		{"lodash", "", "4.17.21", in + "/lodash/-/lodash-4.17.21.tgz/%2e%2e/evil", ""},
		{"lodash", "../evil", "4.17.21", "", ""},
		{"lodash", "evil/-/evil-6.6.6.tgz#", "4.17.21", "", ""},
		{"lodash", "", "4/../../evil/-/evil-6.6.6", "", ""},
	} {
		got, err := npmPackage{Name: c.name, Version: c.version, Resolved: c.resolved}.from("node_modules/"+c.at, in)
		if (err != nil) != (c.want == "") || c.want != "" && got != in+c.want {
			t.Errorf("%+v: %q %v", c, got, err)
		}
	}
}

// A link in the place of node_modules would be mounted for a check: whatever it leads to on this machine.
func TestWhatNpmMadeIsAFolder(t *testing.T) {
	dir := t.TempDir()
	made, into, secret := filepath.Join(dir, "made"), filepath.Join(dir, "into"), filepath.Join(dir, "secret")
	for _, at := range []string{secret, into} {
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, made); err != nil {
		t.Fatal(err)
	}
	if err := take(made, into); err == nil {
		t.Error("a link is taken")
	}
	if st, err := os.Lstat(into); err != nil || !st.IsDir() {
		t.Errorf("%v %v", st, err)
	}
}

func zipped(text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text) //nolint:errcheck // it is memory
	z.Close()
	return out.Bytes()
}

// What is fetched under one name does not stand in for another that is said to have its digest.
func TestADigestIsOfOnePackage(t *testing.T) {
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Write(zipped(q.URL.Path)) //nolint:errcheck // the client's
	}))
	t.Cleanup(at.Close)
	m := &maker{client: at.Client(), registries: Registries{NPM: at.URL}}
	m.most.bytes, m.most.files = maxUnpacked, maxFiles
	evil := sha512.Sum512(zipped("/evil/-/evil-6.6.6.tgz"))
	sum := "sha512-" + base64.StdEncoding.EncodeToString(evil[:])
	l := npmLock{Packages: map[string]npmPackage{"node_modules/z": {Name: "evil", Version: "6.6.6", Integrity: sum}}}
	if err := m.fetchNPM(t.Context(), l, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	l.Packages["node_modules/lodash"] = npmPackage{Version: "4.17.21", Integrity: sum}
	if err := m.fetchNPM(t.Context(), l, t.TempDir()); err == nil || !strings.Contains(err.Error(), "their digests differ") {
		t.Errorf("lodash with another package's digest: %v", err)
	}
}
