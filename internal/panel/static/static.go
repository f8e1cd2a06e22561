// Package static owns the files the panel serves as they are: style sheets,
// scripts, fonts and the icon. It refuses everything that is not on its list.
//
// Every address holds a hash over all files, so that a browser may keep what
// it fetched for ever, files may name one another by relative paths, and a new
// build is never mixed with an old one.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// Prefix is where the panel mounts Handler.
const Prefix = "/panel/static/"

//go:embed *.css *.js *.mjs *.woff2 *.svg
var files embed.FS

var mime = map[string]string{
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".mjs":   "text/javascript; charset=utf-8",
	".woff2": "font/woff2",
	".svg":   "image/svg+xml",
}

// built reads the files once, when the first is asked for: most runs of the
// program never show a page.
var built = sync.OnceValues(load)

func load() (map[string][]byte, string) {
	out, sum := map[string][]byte{}, sha256.New()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err) // the embedded folder is part of the program
	}
	for _, e := range entries {
		b, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		out[e.Name()] = b
		fmt.Fprintf(sum, "%s %d\n", e.Name(), len(b))
		sum.Write(b)
	}
	return out, hex.EncodeToString(sum.Sum(nil)[:6])
}

// URL is the address of a file. A name that does not exist is a mistake in a
// template, found by the first test that renders it.
func URL(name string) string {
	content, stamp := built()
	if _, ok := content[name]; !ok {
		panic(fmt.Sprintf("panel/static: no file %q", name))
	}
	return Prefix + stamp + "/" + name
}

// Handler serves the files under Prefix. An address of another build gets the
// present file, and is not kept.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		build, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Prefix), "/")
		content, stamp := built()
		b, ok := content[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", mime[path.Ext(name)])
		h.Set("X-Content-Type-Options", "nosniff")
		if build == stamp {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-store")
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
	})
}
