package peer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/lease"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// ReserveIn leases a path.
type ReserveIn struct {
	Path    string `json:"path,omitempty" jsonschema:"a file or folder inside the project; left out, the leases are listed"`
	Minutes int64  `json:"minutes,omitempty" jsonschema:"how long, 60 when left out, 480 at most"`
	Shared  bool   `json:"shared,omitempty" jsonschema:"others may lease it too, likewise shared; whoever has no lease on it stays off"`
	Which
}

// Leases are leased paths.
type Leases struct {
	Said
	Leases []Path `json:"leases"`
}

// Ground is the repository that a seat's folder is a workspace of, if it is one:
// there a lease is a resource of its server, which sees the paths anyway and holds
// everybody to it, member or not.
type Ground struct {
	Lease   func(ctx context.Context, folder, path string, minutes int64, shared bool) (served bool, err error)
	Release func(ctx context.Context, folder, path string) error
}

func (r *Room) opReserve(ctx context.Context, in ReserveIn) (Leases, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Leases{}, err
	}
	defer s.mu.Unlock()
	if in.Path != "" {
		err = r.reserve(ctx, s, in)
	} else {
		r.fresh(ctx, s)
	}
	if err != nil {
		return Leases{}, err
	}
	return r.listLeases(ctx, s), nil
}

// reserve takes a path at the repository's server, where there is one, and names
// it in the space. The caller holds s.mu.
func (r *Room) reserve(ctx context.Context, s *seat, in ReserveIn) error {
	p, err := lease.Clean(in.Path)
	if err != nil {
		return err
	}
	r.settle(ctx, s)
	if s.folder != "" && !op.Takes(ctx, s.folder, p, at(s.folder)) {
		return fault.New(fault.NotFound, "space.reserve", "there is no %s here for you to have to yourself", escape(clip(p))).
			WithNext("lease a file or folder by its name, of those that you see whole")
	}
	if r.inTheWay(ctx, s, p, in.Shared) != nil {
		r.fresh(ctx, s) // it may be free since a moment ago
	}
	if err := r.inTheWay(ctx, s, p, in.Shared); err != nil {
		return err
	}
	var served bool
	if r.ground.Lease != nil && s.folder != "" {
		if served, err = r.ground.Lease(ctx, s.folder, p, in.Minutes, in.Shared); err != nil {
			return err
		}
	}
	c := space.LeaseClear{Tag: pathTag(s.sec.Space, p), TTL: (time.Duration(in.Minutes) * time.Minute).Milliseconds()}
	for _, above := range lease.Above(p) {
		c.Above = append(c.Above, pathTag(s.sec.Space, above))
	}
	class := space.ClassReserve
	if in.Shared {
		class = space.ClassShared
	}
	if _, err := r.send(ctx, s, thing{class: class, clear: c, content: Path{Path: p, Served: served}}); err != nil {
		if served {
			err = errors.Join(err, r.ground.Release(ctx, s.folder, p))
		}
		return s.named(err)
	}
	return nil
}

// inTheWay refuses what overlaps another member's lease, unless both are shared. The host sees no more of
// a path than the tags of its folders; patterns are for the members to compare.
func (r *Room) inTheWay(ctx context.Context, s *seat, p string, shared bool) error {
	for _, held := range s.paths {
		if held.By == string(s.me.Card().ID) || !r.now().Before(micros(held.Until)) || held.Path == "" || !lease.Overlap(held.Path, p) ||
			shared && held.Shared {
			continue
		}
		path := held.Path
		if !tells(ctx, s, path) {
			path = "part of " + p
		}
		return fault.New(fault.Conflict, "space.reserve", "%s is leased to %s until %s", path, s.name(seal.MemberID(held.By)),
			micros(held.Until).Format(time.RFC3339)).WithNext("ask the holder to release it, or work on something else meanwhile")
	}
	return nil
}

// at is a seat's folder as policy names it.
func at(folder string) op.Resource {
	return op.Resource{Kind: "folder", Path: "/" + strings.TrimPrefix(filepath.ToSlash(folder), "/")}
}

// tells says whether the caller may hear the name of a path that another member has leased.
func tells(ctx context.Context, s *seat, path string) bool {
	return s.folder == "" || op.Tells(ctx, s.folder, path, at(s.folder))
}

// opLeases lists the leases.
func (r *Room) opLeases(ctx context.Context, _ Which) (Leases, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Leases{}, err
	}
	defer s.mu.Unlock()
	r.fresh(ctx, s)
	return r.listLeases(ctx, s), nil
}

// listLeases are the leases that have not run out.
func (r *Room) listLeases(ctx context.Context, s *seat) Leases {
	out := Leases{Leases: []Path{}}
	for _, p := range s.paths {
		if r.now().Before(micros(p.Until)) {
			mine := p.By == string(s.me.Card().ID)
			p.By = s.name(seal.MemberID(p.By))
			if !mine && p.Path != "" && !tells(ctx, s, p.Path) {
				continue
			}
			out.Leases = append(out.Leases, p)
		}
	}
	slices.SortFunc(out.Leases, func(a, b Path) int { return strings.Compare(a.Path+"\x00"+a.By, b.Path+"\x00"+b.By) })
	out.Text = "No leased paths."
	if len(out.Leases) > 0 {
		out.Text = "Leased paths:"
	}
	for _, p := range out.Leases {
		by := escape(p.By)
		if p.Shared {
			by += ", shared,"
		}
		out.Text += fmt.Sprintf("\n  %s: %s until %s", escape(orElse(p.Path, "(leased before you joined)")), by,
			micros(p.Until).Format(time.RFC3339))
	}
	return out
}

// ReleaseIn names a path.
type ReleaseIn struct {
	Path string `json:"path" jsonschema:"the leased path"`
	Which
}

func (r *Room) opRelease(ctx context.Context, in ReleaseIn) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	p, err := lease.Clean(in.Path)
	if err != nil {
		return Said{}, err
	}
	tag := pathTag(s.sec.Space, p)
	held := func(tag string) (served, ok bool) {
		alone, a := s.paths[tag]
		shared, b := s.paths[together(tag, s.me.Card().ID)]
		return alone.Served || shared.Served, a || b
	}
	served, ok := held(tag)
	if old := s.sec.Space.Tag("path", p); !ok { // one that an earlier release took is tagged by its own spelling
		if served, ok = held(old); ok {
			tag = old
		}
	}
	if served && r.ground.Release != nil {
		if err := r.ground.Release(ctx, s.folder, p); err != nil && !fault.Is(err, fault.NotFound) {
			return Said{}, err
		}
	}
	if _, err := r.send(ctx, s, thing{class: space.ClassRelease, clear: space.LeaseClear{Tag: tag},
		content: Path{Path: p}}); err != nil {
		return Said{}, s.named(err)
	}
	return r.withMail(ctx, s, Said{Text: "Released " + escape(p) + "."})
}

// freeAll gives free what a leaver holds at a repository's server; what cannot be
// told there ends by itself. The caller holds s.mu.
func (r *Room) freeAll(ctx context.Context, s *seat) {
	for _, p := range s.paths {
		if p.Served && p.By == string(s.me.Card().ID) && r.ground.Release != nil {
			if err := r.ground.Release(ctx, s.folder, p.Path); err != nil && !fault.Is(err, fault.NotFound) {
				r.log.Warn("a lease was not given free", "err", err)
			}
		}
	}
}
