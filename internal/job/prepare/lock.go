package prepare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// Kind is whose dependencies a lock file names.
type Kind string

// The kinds.
const (
	Go  Kind = "go"
	NPM Kind = "npm"
)

// Kinds are all of them.
var Kinds = []Kind{Go, NPM}

// MaxLock is how long a lock file may be.
const MaxLock = 16 << 20

// locks are the names of lock files.
var locks = map[string]Kind{"go.sum": Go, "go.work.sum": Go, "package-lock.json": NPM, "npm-shrinkwrap.json": NPM}

// File is a lock file of a commit.
type File struct {
	Path string
	Kind Kind
	Text string
	// Beside are the files that belong to it, seen from its folder: package.json, also of an npm workspace.
	Beside map[string]string
}

// Digest names what a lock file says.
func (f File) Digest() string { return digest(string(f.Kind), f.Text) }

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// passed are folders whose lock files are nobody's who builds the repository.
var passed = []string{"vendor", "node_modules", "testdata"}

// Known says whether a file of a repository is a lock file that counts, and of which kind.
func Known(file string) (Kind, bool) {
	kind, known := locks[path.Base(file)]
	for _, dir := range strings.Split(path.Dir(file), "/") {
		known = known && !slices.Contains(passed, dir)
	}
	return kind, known
}

// Find are the lock files of a commit, of some kinds, given the names of its files and a way to read one. Where the repository holds the
// dependencies themselves, nothing has to be fetched.
func Find(names []string, kinds []Kind, read func(name string) (string, error)) (out []File, err error) {
	for _, name := range names {
		kind, known := Known(name)
		if !known || !slices.Contains(kinds, kind) {
			continue
		}
		dir := path.Dir(name)
		if slices.ContainsFunc(names, func(n string) bool {
			return n == path.Join(dir, "vendor", "modules.txt") || strings.HasPrefix(n, path.Join(dir, "node_modules")+"/")
		}) {
			continue
		}
		f := File{Path: name, Kind: kind}
		if f.Text, err = read(name); err != nil {
			return nil, err
		}
		if len(f.Text) > MaxLock {
			return nil, bad("%s is longer than %d bytes", name, MaxLock)
		}
		if kind == NPM {
			if err := f.beside(dir, read); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func bad(format string, args ...any) *fault.Error {
	return fault.New(fault.Conflict, "job.prepare", format, args...)
}

// Part is what is prepared at once: all Go modules of a commit, or the packages of one folder.
type Part struct {
	Kind  Kind
	Dir   string // of the lock file, seen from the repository's folder; of Go modules it is "."
	Key   string // names what it becomes
	files []File
}

// Parts are what has to be prepared for some lock files.
func Parts(files []File) (out []Part) {
	modules := Part{Kind: Go, Dir: "."}
	for _, f := range files {
		switch f.Kind {
		case Go:
			modules.files = append(modules.files, f)
		case NPM:
			dir := path.Dir(f.Path)
			if slices.ContainsFunc(out, func(p Part) bool { return p.Dir == dir }) { // a shrinkwrap beside a lock file
				continue
			}
			said := []string{string(NPM), f.Text}
			for _, name := range sorted(f.Beside) {
				said = append(said, name, f.Beside[name])
			}
			out = append(out, Part{Kind: NPM, Dir: dir, Key: digest(said...), files: []File{f}})
		}
	}
	if len(modules.files) > 0 {
		said := []string{string(Go)}
		for _, f := range modules.files {
			said = append(said, f.Text)
		}
		slices.Sort(said[1:])
		modules.Key = digest(said...)
		out = append(out, modules)
	}
	return out
}

// Added are the dependencies that a lock file names and an earlier one of the same place does not, in words, at most so many: first those
// that the earlier one names with another digest.
func Added(was, is File, most int) (out []string) {
	had, digests := map[string]bool{}, map[needed]bool{}
	for _, n := range was.names() {
		had[n.words], digests[n] = true, true
	}
	var other []string
	for _, n := range is.names() {
		switch {
		case digests[n]:
		case had[n.words]:
			other = append(other, n.words+" (another digest than before)")
		default:
			out = append(out, n.words)
		}
	}
	slices.Sort(other)
	slices.Sort(out)
	out = slices.Compact(append(other, out...))
	if len(out) > most {
		out = append(out[:most:most], fmt.Sprintf("and %d more", len(out)-most))
	}
	return out
}

// needed is a dependency as people call it, and what a lock file says that it consists of.
type needed struct{ words, digest string }

// names are the dependencies of a lock file. One that cannot be read names none.
func (f File) names() (out []needed) {
	switch f.Kind {
	case Go:
		sums, err := parseSums(f.Text)
		if err == nil {
			for _, s := range sums {
				if !s.mod {
					out = append(out, needed{s.Path + " " + s.Version.Version, s.hash})
				}
			}
		}
	case NPM:
		l, err := parseNPM(f.Text)
		if err == nil {
			for _, at := range sorted(l.Packages) {
				if p := l.Packages[at]; p.fetched(at) {
					out = append(out, needed{p.words(at), p.Integrity})
				}
			}
		}
	}
	return out
}
