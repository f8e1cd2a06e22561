package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// ReserveIn leases a path.
type ReserveIn struct {
	Path    string `json:"path,omitempty" jsonschema:"a file or folder inside the project; left out, the leases are listed"`
	Minutes int64  `json:"minutes,omitempty" jsonschema:"how long, 60 when left out, 480 at most"`
}

// Leases are leased paths.
type Leases struct {
	Said
	Leases []Path `json:"leases"`
}

func cleanPath(p string) (string, error) {
	q := strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(p, "\\", "/"), "./"), "/")
	if q == "" || strings.HasPrefix(q, "/") || slices.Contains(strings.Split(q, "/"), "..") || len(q) > 1000 {
		return "", fault.New(fault.Invalid, "space.reserve", "%q is not a path inside the project", clip(p)).WithNext("name it relative to the project's root, e.g. internal/auth/token.go")
	}
	return q, nil
}

func (r *Room) opReserve(ctx context.Context, in ReserveIn) (Leases, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Leases{}, err
	}
	defer s.mu.Unlock()
	if in.Path != "" {
		p, err := cleanPath(in.Path)
		if err != nil {
			return Leases{}, err
		}
		c := space.LeaseClear{Tag: s.sec.Space.Tag("path", p), TTL: (time.Duration(in.Minutes) * time.Minute).Milliseconds()}
		if _, err := r.send(ctx, s, thing{class: space.ClassReserve, clear: c, content: Path{Path: p}}); err != nil {
			return Leases{}, s.named(err)
		}
	} else {
		r.fresh(ctx, s)
	}
	return r.listLeases(s), nil
}

// opLeases lists the leases.
func (r *Room) opLeases(ctx context.Context, _ Nothing) (Leases, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Leases{}, err
	}
	defer s.mu.Unlock()
	r.fresh(ctx, s)
	return r.listLeases(s), nil
}

// listLeases are the leases that have not run out.
func (r *Room) listLeases(s *seat) Leases {
	out := Leases{Leases: []Path{}}
	for _, p := range s.paths {
		if r.now().Before(micros(p.Until)) {
			p.By = s.name(seal.MemberID(p.By))
			out.Leases = append(out.Leases, p)
		}
	}
	slices.SortFunc(out.Leases, func(a, b Path) int { return strings.Compare(a.Path, b.Path) })
	out.Text = "No leased paths."
	if len(out.Leases) > 0 {
		out.Text = "Leased paths:"
	}
	for _, p := range out.Leases {
		out.Text += fmt.Sprintf("\n  %s: %s until %s", escape(orElse(p.Path, "(leased before you joined)")), escape(p.By), micros(p.Until).Format(time.RFC3339))
	}
	return out
}

// ReleaseIn names a path.
type ReleaseIn struct {
	Path string `json:"path" jsonschema:"the leased path"`
}

func (r *Room) opRelease(ctx context.Context, in ReleaseIn) (Said, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	p, err := cleanPath(in.Path)
	if err != nil {
		return Said{}, err
	}
	if _, err := r.send(ctx, s, thing{class: space.ClassRelease, clear: space.LeaseClear{Tag: s.sec.Space.Tag("path", p)}, content: Path{Path: p}}); err != nil {
		return Said{}, s.named(err)
	}
	return r.withMail(ctx, s, Said{Text: "Released " + escape(p) + "."})
}
