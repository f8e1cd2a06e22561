package prepare

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// sum is a line of a go.sum.
type sum struct {
	module.Version
	mod  bool // of its go.mod alone
	hash string
}

// parseSums reads a go.sum.
func parseSums(text string) (out []sum, err error) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 3 {
			return nil, bad("a line of go.sum is not one: %.100q", line)
		}
		s := sum{Version: module.Version{Path: f[0], Version: f[1]}, hash: f[2]}
		s.Version.Version, s.mod = strings.CutSuffix(f[1], "/go.mod")
		if err := module.Check(s.Path, s.Version.Version); err != nil {
			return nil, bad("go.sum names no module: %.200s", err)
		}
		if !strings.HasPrefix(s.hash, "h1:") {
			continue // a kind of digest that is to come: go ignores it, too
		}
		out = append(out, s)
	}
	return out, nil
}

// modules makes a module cache, as Go reads it, of what go.sum files name: each module is compared with its digest before it is unpacked.
func (m *maker) modules(ctx context.Context, p Part, into string) error {
	seen, all := map[sum]bool{}, []sum{}
	for _, f := range p.files {
		sums, err := parseSums(f.Text)
		if err != nil {
			return err
		}
		for _, s := range sums {
			if !seen[s] {
				seen[s], all = true, append(all, s)
			}
		}
	}
	return m.each(ctx, len(all), func(ctx context.Context, i int) error { return m.module(ctx, all[i], into) })
}

func (m *maker) module(ctx context.Context, s sum, into string) error {
	name, err := module.EscapePath(s.Path)
	if err != nil {
		return err
	}
	version, err := module.EscapeVersion(s.Version.Version)
	if err != nil {
		return err
	}
	at := filepath.Join(into, "cache", "download", filepath.FromSlash(name), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	from := m.registries[Go] + "/" + name + "/@v/" + version
	file := filepath.Join(at, version)
	if s.mod {
		text, err := m.fetch(ctx, from+".mod", zip.MaxGoMod)
		if err != nil {
			return err
		}
		hash, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
		if err != nil || hash != s.hash {
			return forged("go.mod of "+s.Path+" "+s.Version.Version, "go.sum")
		}
		return os.WriteFile(file+".mod", text, 0o444)
	}
	data, err := m.fetch(ctx, from+".zip", zip.MaxZipFile)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".zip", data, 0o444); err != nil {
		return err
	}
	if hash, err := dirhash.HashZip(file+".zip", dirhash.Hash1); err != nil || hash != s.hash {
		return forged(s.Path+" "+s.Version.Version, "go.sum")
	}
	if err := m.measureZip(s.Path+" "+s.Version.Version, file+".zip"); err != nil {
		return err
	}
	if err := zip.Unzip(filepath.Join(into, filepath.FromSlash(name)+"@"+version), s.Version, file+".zip"); err != nil {
		return bad("%s %s is no module: %.200s", s.Path, s.Version.Version, err)
	}
	info, err := json.Marshal(map[string]string{"Version": s.Version.Version}) // nothing vouches for what a registry says of its age
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".info", info, 0o444); err != nil {
		return err
	}
	return os.WriteFile(file+".ziphash", []byte(s.hash), 0o444)
}

// forged is something that is not what a lock file says.
func forged(what, lock string) error {
	return bad("what the registry gives as %s is not what %s says: their digests differ", what, lock).
		WithNext("look at the registry, and at who changed %s", lock)
}
