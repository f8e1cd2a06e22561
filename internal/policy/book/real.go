package book

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/internal/policy"
)

// Real is where a path of policy's leads: links are followed in the part of it that exists, and the rest stays as it is written.
func Real(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	p := filepath.FromSlash(path)
	if filepath.VolumeName(p[1:]) != "" { // policy writes C:\code as /C:/code
		p = p[1:]
	}
	for at, rest := p, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return "/" + strings.TrimPrefix(filepath.ToSlash(filepath.Join(real, rest)), "/")
		}
		parent := filepath.Dir(at)
		if parent == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = parent
	}
}

// real is a folder as it is kept: what a person denies, grants or labels is the thing, whichever links its path goes through. What was
// written is kept beside it, for people to read and for what the links lead to later.
func real(r policy.ResourceRef) policy.ResourceRef {
	if r.Kind != policy.KindFolder {
		return r
	}
	if at := Real(r.Path); at != r.Path {
		r.Path, r.Written = at, r.Path
	}
	return r
}

// led is a question about where its path leads.
func led(r policy.Request) policy.Request {
	r.Resource = real(r.Resource)
	return r
}

// narrower says whether the answer about a path as it is written counts before that about where it leads: a denial does, and that
// nothing grants it by that name says nothing.
func narrower(written, there policy.Decision) bool {
	return written.Effect < there.Effect && written.Code != policy.CodeNoGrant
}

// Links remembers for a moment where paths lead: policy speaks of few, and is asked about thousands of files in a row.
type Links struct {
	mu    sync.Mutex
	known map[string]place
}

type place struct {
	to    string
	until time.Time
}

// How long an answer is believed, and how many are kept.
const (
	believed = 2 * time.Second
	kept     = 8192
)

// Real is the same as the function.
func (l *Links) Real(path string) string {
	now := time.Now()
	l.mu.Lock()
	a, ok := l.known[path]
	l.mu.Unlock()
	if ok && now.Before(a.until) {
		return a.to
	}
	to := Real(path) // a disk may be slow: whoever asks about another path does not wait for it
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known) >= kept {
		l.known = map[string]place{}
	}
	l.known[path] = place{to, now.Add(believed)}
	return to
}
