package prepare

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"tandem/internal/fault"
)

// packed is an npm package of so many files, each of so many zeros.
func packed(t *testing.T, files, each int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for i := range files {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("package/%d", i), Mode: 0o644, Size: int64(each)}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, each)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	return out.Bytes()
}

// A package of some kilobytes, with the digest that the lock file has, unpacked to as much as the disk holds.
func TestADependencyThatUnpacksToTooMuchIsRefused(t *testing.T) {
	var served []byte
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(served) }))
	defer registry.Close()
	r := Registries{Go: registry.URL, NPM: registry.URL}
	made := func() *maker {
		m := &maker{Store: &Store{}, client: client(r), registries: r}
		m.most.bytes, m.most.files = 1<<20, 100
		return m
	}
	places := 1
	npm := func(files, each int) error {
		served = packed(t, files, each)
		sum := sha512.Sum512(served)
		l := npmLock{Version: 3, Packages: map[string]npmPackage{}}
		for i := range places {
			at := "node_modules/bomb"
			if i > 0 {
				at = fmt.Sprintf("node_modules/p%d/%s", i, at)
			}
			l.Packages[at] = npmPackage{Version: "1.0.0", Integrity: "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		}
		return made().fetchNPM(t.Context(), l, filepath.Join(t.TempDir(), "content"))
	}
	module := func(files, each int) error {
		file := filepath.Join(t.TempDir(), "m.zip")
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for i := range files {
			f, err := w.Create(fmt.Sprintf("example.com/bomb@v1.0.0/%d", i))
			if err == nil {
				_, err = f.Write(make([]byte, each))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		served = out.Bytes()
		if err := os.WriteFile(file, served, 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := dirhash.HashZip(file, dirhash.Hash1)
		if err != nil {
			t.Fatal(err)
		}
		sums, err := parseSums("example.com/bomb v1.0.0 " + sum)
		if err != nil {
			t.Fatal(err)
		}
		return made().module(t.Context(), sums[0], t.TempDir())
	}
	for kind, fetched := range map[string]func(files, each int) error{"npm": npm, "go": module} {
		if err := fetched(50, 1000); err != nil {
			t.Errorf("%s: an ordinary one: %v", kind, err)
		}
		for what, err := range map[string]error{"large": fetched(1, 2<<20), "many": fetched(200, 0)} {
			if !fault.Is(err, fault.Exhausted) || !strings.Contains(err.Error(), "unpack to more than") {
				t.Errorf("%s, too %s: %v", kind, what, err)
			}
		}
	}
	places = 30 // one package, unpacked in each of them
	if err := npm(50, 1000); !fault.Is(err, fault.Exhausted) {
		t.Errorf("in %d places: %v", places, err)
	}
}
