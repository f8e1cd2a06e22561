package peer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/lease"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
	"tandem/internal/spelling"
)

// leases are a seat's leased paths as others of this daemon may ask for them:
// a copy, so that nobody waits for a seat that waits for its host.
type leases struct {
	tenant, owner, space, folder string
	seat                         string
	me                           seal.MemberID
	key                          seal.Key
	paths                        map[string]Path // by tag
}

// pathTag is a path as the host of a space knows it: one tag for all spellings that are one file somewhere.
func pathTag(key seal.Key, path string) string { return key.Tag("path", spelling.Folded(path)) }

// Holding is a file of this machine that somebody else has leased.
type Holding struct {
	File   string // relative to the project
	Holder seal.MemberID
	Until  time.Time
	Served bool   // a server guards it: nobody's push gets past that without a person
	lease  string // the leased path: the file, or a folder above it
	seat   string // a seat of this machine that knows of it
}

// publish makes a seat's leases known in this daemon. The caller holds s.mu.
func (r *Room) publish(s *seat) {
	if s.state != active || s.folder == "" || len(s.paths) == 0 {
		r.leased.Delete(s.id)
		return
	}
	folder := s.folder
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	l := &leases{tenant: s.tenant, owner: s.owner, space: s.space, folder: folder, seat: s.id, me: s.me.Card().ID, key: s.sec.Space,
		paths: map[string]Path{}}
	for tag, p := range s.paths {
		l.paths[tag] = p
	}
	r.leased.Store(s.id, l)
}

// Held finds which of some files, by absolute path, are leased to somebody else
// than the caller in a space that is at work in their folder. A leased folder
// holds all that is below it.
func (r *Room) Held(c op.Caller, files []string) []Holding {
	return r.held(c.Tenant, func(who string) bool { return who == owner(c) }, files)
}

// held is Held for everybody whose seats are meant.
func (r *Room) held(tenant string, mine func(owner string) bool, files []string) []Holding {
	var all []*leases
	own := map[seal.MemberID]bool{} // the caller's own members
	r.leased.Range(func(_, v any) bool {
		if l := v.(*leases); l.tenant == tenant {
			all = append(all, l)
			if mine(l.owner) {
				own[l.me] = true
			}
		}
		return true
	})
	var out []Holding
	for _, file := range files {
		for _, l := range all {
			rel, err := filepath.Rel(l.folder, file)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			h, ok := l.held(filepath.ToSlash(rel), r.now(), own)
			if ok && !slices.ContainsFunc(out, func(o Holding) bool { return o.File == h.File && o.Holder == h.Holder }) {
				out = append(out, h)
			}
		}
	}
	return out
}

// held is the lease of somebody else on a path, or on what it lies in. One that is shared holds nobody up who shares in it.
func (l *leases) held(file string, now time.Time, own map[seal.MemberID]bool) (Holding, bool) {
	_, shares := l.holding(file, now, func(p Path) bool { return own[seal.MemberID(p.By)] && p.Shared })
	return l.holding(file, now, func(p Path) bool { return !own[seal.MemberID(p.By)] && !(shares && p.Shared) })
}

// holding is a lease that is meant on a path, or on what it lies in.
// That somebody else has leased something nearer ends no lease.
func (l *leases) holding(file string, now time.Time, meant func(Path) bool) (Holding, bool) {
	tags := map[string]string{} // what was leased before we joined has no name here, only a tag
	for _, p := range append([]string{file}, lease.Above(file)...) {
		tags[l.key.Tag("path", p)] = p // as earlier releases tagged it
		tags[pathTag(l.key, p)] = p
	}
	for name, p := range l.paths {
		tag, _, _ := strings.Cut(name, " ")
		path := orElse(p.Path, tags[tag])
		if path != "" && meant(p) && now.Before(micros(p.Until)) && lease.Covers(path, file) {
			return Holding{File: file, Holder: seal.MemberID(p.By), Until: micros(p.Until), Served: p.Served, lease: path, seat: l.seat}, true
		}
	}
	return Holding{}, false
}

// Caution is the sentence about files that somebody else has leased; "" when
// there are none. It is kept with the ask, so the holder is in it by id: names
// are for members' eyes.
func Caution(held []Holding) string {
	if len(held) == 0 {
		return ""
	}
	var parts []string
	for _, h := range held {
		parts = append(parts, fmt.Sprintf("%s is leased to %s until %s", h.File, h.Holder, h.Until.Format("15:04 MST")))
	}
	if n := len(parts); n > 5 {
		parts = append(parts[:5], fmt.Sprintf("and %d more", n-5))
	}
	return strings.Join(parts, "; ") + " (who that is: tandem space reserve)"
}

// ChangedIn names files that a workspace is about to send.
type ChangedIn struct {
	Folder string   `json:"folder" jsonschema:"the workspace's folder, absolute"`
	Paths  []string `json:"paths" jsonschema:"the changed files, relative to it"`
	By     string   `json:"by,omitempty" jsonschema:"the workspace's name"`
	Sent   bool     `json:"sent,omitempty" jsonschema:"they have gone out: nobody is asked any more"`
}

// Asked are the leases that a person is asked about: before files go out, and where
// no server asks.
func (in ChangedIn) Asked(held []Holding) []Holding {
	return slices.DeleteFunc(held, func(h Holding) bool { return in.Sent || h.Served })
}

// Files are the absolute paths.
func (in ChangedIn) Files() []string {
	folder := in.Folder
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	var out []string
	for _, p := range in.Paths {
		out = append(out, filepath.Join(folder, filepath.FromSlash(p)))
	}
	return out
}

// opChanged lets changed files go out. When somebody else has leased one of
// them, a person was asked by now: by the gate here, or by the repository's server,
// which must have taken them first. The holder is told that the ground moves.
func (r *Room) opChanged(ctx context.Context, in ChangedIn) (Said, error) {
	held := slices.DeleteFunc(r.Held(op.CallerFrom(ctx), in.Files()), func(h Holding) bool { return h.Served != in.Sent })
	told := 0
	for i, h := range held {
		if slices.ContainsFunc(held[:i], func(o Holding) bool { return o.lease == h.lease && o.Holder == h.Holder }) {
			continue
		}
		if err := r.tellHolder(ctx, h, in.By); err != nil {
			return Said{}, err
		}
		told++
	}
	return Said{Text: fmt.Sprintf("%d holders told", told), State: "stored"}, nil
}

// opMoved tells the holders of this machine that files they lease changed below
// their workspace. It answers with those files.
func (r *Room) opMoved(ctx context.Context, in ChangedIn) (Said, error) {
	tenant := op.CallerFrom(ctx).Tenant
	out := Said{State: "stored"}
	for _, s := range r.all() {
		v, ok := r.leased.Load(s.id)
		if !ok || v.(*leases).tenant != tenant {
			continue
		}
		l := v.(*leases)
		for _, file := range in.Files() {
			rel, err := filepath.Rel(l.folder, file)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			h, ok := l.holding(filepath.ToSlash(rel), r.now(), func(p Path) bool { return p.By == string(l.me) })
			if !ok || slices.Contains(out.IDs, h.File) {
				continue
			}
			out.IDs = append(out.IDs, h.File)
			s.mu.Lock()
			s.shifted = append(s.shifted, h.File)
			s.mu.Unlock()
		}
	}
	out.Text = fmt.Sprintf("%d leased files changed", len(out.IDs))
	return out, nil
}

// tellHolder says in the space that a leased file changed.
func (r *Room) tellHolder(ctx context.Context, h Holding, by string) error {
	r.mu.Lock()
	s := r.seats[h.seat]
	r.mu.Unlock()
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf("%s, which you lease, was changed in the workspace %s with a person's approval. "+
		"Your base moves with your next command.", h.lease, orElse(by, "of a peer"))
	t := thing{class: space.ClassMessage, content: Words{Type: "status", Text: text}}
	if h.Holder != s.me.Card().ID {
		t.to = h.Holder
	}
	if t.to == "" { // the holder sits at this very seat: there is nobody to write to, and its inbox is its own
		return nil
	}
	_, _, err := r.sendOrQueue(ctx, s, t)
	return err
}
