package host

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// knows refuses what a replica has of this server when it is not part of the
// history any more: the repository was put back to an older state. It names
// operations of its own, so that the replica sends what lies between.
func (s *served) knows(ctx context.Context, have []repo.OperationID) error {
	head, _, _ := s.now()
	for _, id := range have {
		if known, err := s.contains(ctx, head, []repo.OperationID{id}); err != nil || known {
			if err != nil {
				return err
			}
			continue
		}
		spread, err := s.spread(ctx, head)
		if err != nil {
			return err
		}
		return fault.New(fault.Conflict, "repo.sync",
			"the server is older than what it acknowledged: operation %.12s is not known there any more", id.Hex()).
			With("unknown", id.Hex()).With("heads", strings.Join(exchange.Hex(spread), " ")).
			WithNext("it was put back to an older state, and a replica brings back what it has with its next command: tandem st")
	}
	return nil
}

// spread are operations of the history, ever further apart.
func (s *served) spread(ctx context.Context, head repo.OperationID) (out []repo.OperationID, err error) {
	n, next := 0, 0
	err = repo.WalkOperations(ctx, s.store, []repo.OperationID{head}, func(o *repo.Operation) (bool, error) {
		if n == next && o.ID != repo.RootOperationID {
			out = append(out, o.ID)
			next += 1 + n/2
		}
		n++
		return true, nil
	})
	return out, err
}

// offered takes back what a replica offers: with our receipt for it at once, else, where it
// is not the replica's own alone, after a person's word. It says whether that was done;
// one's own comes as any push does.
func (h *Host) offered(ctx context.Context, s *served, q exchange.Question, in *gitstore.Incoming, tip repo.OperationID) (bool, error) {
	if err := h.noteTold(ctx, s, q); err != nil {
		return false, err
	}
	list, own, err := s.returning(ctx, q, in, tip)
	if err != nil {
		return false, err
	}
	back := RepoReturn
	if !h.receipted(s, q.Receipt, tip) {
		if own {
			return false, nil
		}
		back, list.Version = RepoReturnUnsigned, 0
	}
	list.brought = in
	_, err = op.Do(ctx, h.Gate(), back, list)
	return err == nil, err
}

// noteTold writes down a head that a replica was told of and never had.
func (h *Host) noteTold(ctx context.Context, s *served, q exchange.Question) error {
	id, ok := repo.ParseOperationID(q.Told.Head)
	if !ok || s.store.HasOperation(id) {
		return nil
	}
	return h.DB.Write(ctx, func(tx *db.Tx) error {
		var n int
		err := tx.QueryRow("SELECT count(*) FROM repo_told WHERE tenant = ? AND repo = ?", identity.LocalTenant, s.id).Scan(&n)
		if err != nil || n >= maxLost {
			return err
		}
		_, err = tx.Exec("INSERT INTO repo_told (tenant, repo, operation, version, told_by, told_at) "+
			"VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			identity.LocalTenant, s.id, q.Told.Head, q.Told.Version, op.CallerFrom(ctx).Name, tx.Now())
		return err
	})
}

// Lost is a state that was acknowledged and that nobody has brought back.
type Lost struct {
	Operation string    `json:"operation"`
	Actor     string    `json:"actor,omitempty"` // whose push it was, as far as the journal knows
	Workspace string    `json:"workspace,omitempty"`
	Time      time.Time `json:"time,omitzero"`
	Heard     string    `json:"heard,omitempty"` // who was told of it and never had it
}

// Returned is something that came back.
type Returned struct {
	Time       time.Time      `json:"time"`
	Actor      string         `json:"actor"` // who brought it
	Operations int            `json:"operations"`
	Of         map[string]int `json:"of"`
	Kept       []string       `json:"kept"`
	Older      string         `json:"older"` // the operation that the repository had been put back to
}

// OlderOut is whether a repository is older than what it acknowledged.
type OlderOut struct {
	Name     string     `json:"name"`
	Head     string     `json:"head"`
	Older    bool       `json:"older"`
	Lost     []Lost     `json:"lost"`
	Returned []Returned `json:"returned"`
	Era      int64      `json:"era"` // how often an older state was kept
}

// maxLost is how many states are named; each newer one has the older ones in it.
const maxLost = 200

func (h *Host) older(ctx context.Context, in RepoIn) (out OlderOut, err error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return out, err
	}
	head, _, _ := s.now()
	out = OlderOut{Name: s.name, Head: head.Hex(), Era: s.currentEra()}
	if out.Lost, err = h.lost(ctx, s); err != nil {
		return out, err
	}
	out.Older = len(out.Lost) > 0
	out.Returned, err = h.cameBack(ctx, s)
	return out, err
}

// recorded is what an event of a push or a return tells.
type recorded struct {
	Facts struct {
		Operation string         `json:"operation"`
		Returned  int            `json:"returned"`
		Of        map[string]int `json:"of"`
		Kept      []string       `json:"kept"`
		Older     string         `json:"older"`
	} `json:"facts"`
}

// outcomes visits the newest outcomes of an operation on a repository.
func (h *Host) outcomes(ctx context.Context, s *served, name string, visit func(journal.Entry, recorded)) error {
	if h.Journal == nil {
		return nil
	}
	list, err := h.Journal.Read(ctx, identity.LocalTenant, 0, maxLost, journal.Filter{Type: name, Phase: journal.Outcome, Newest: true})
	for _, e := range list {
		var r recorded
		place := strings.SplitN(e.Resource, "/", 4)
		if len(place) < 2 || place[1] != s.name || json.Unmarshal(e.Payload, &r) != nil || r.Facts.Operation == "" {
			continue
		}
		visit(e, r)
	}
	return err
}

// lost names what was acknowledged, as the journal and those who heard of it know,
// and is not here.
func (h *Host) lost(ctx context.Context, s *served) ([]Lost, error) {
	out := []Lost{}
	missing := func(hex string) bool {
		id, ok := repo.ParseOperationID(hex)
		return ok && !s.store.HasOperation(id) && !slices.ContainsFunc(out, func(l Lost) bool { return l.Operation == hex })
	}
	err := h.outcomes(ctx, s, string(RepoPush), func(e journal.Entry, r recorded) {
		if missing(r.Facts.Operation) {
			_, workspace, _ := strings.Cut(strings.TrimPrefix(e.Resource, "workspace:/"), "/")
			out = append(out, Lost{Operation: r.Facts.Operation, Actor: e.Actor, Workspace: workspace, Time: e.Time.UTC()})
		}
	})
	if err != nil {
		return out, err
	}
	type row struct{ operation, by string }
	rows, err := h.DB.Query(ctx, "SELECT operation, told_by FROM repo_told WHERE tenant = ? AND repo = ? ORDER BY version DESC",
		identity.LocalTenant, s.id)
	list, err := db.Collect(rows, err, func(r *sql.Rows) (x row, err error) {
		err = r.Scan(&x.operation, &x.by)
		return x, err
	})
	for _, x := range list {
		if missing(x.operation) {
			out = append(out, Lost{Operation: x.operation, Heard: x.by})
		}
	}
	return out, err
}

func (h *Host) cameBack(ctx context.Context, s *served) ([]Returned, error) {
	out := []Returned{}
	for _, name := range []string{string(RepoReturn), string(RepoReturnUnsigned)} {
		err := h.outcomes(ctx, s, name, func(e journal.Entry, r recorded) {
			if r.Facts.Returned > 0 {
				out = append(out, Returned{Time: e.Time.UTC(), Actor: e.Actor, Operations: r.Facts.Returned, Of: r.Facts.Of,
					Kept: r.Facts.Kept, Older: r.Facts.Older})
			}
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// keepOlder begins an era: receipts of those before count for nothing any more.
func (h *Host) keepOlder(ctx context.Context, tx *db.Tx, in RepoIn) (OlderOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return OlderOut{}, err
	}
	head, _, _ := s.now()
	era := s.currentEra() + 1
	if _, err := tx.Exec("INSERT INTO repo_older (tenant, repo, era, kept_at) VALUES (?, ?, ?, ?) "+
		"ON CONFLICT (tenant, repo) DO UPDATE SET era = excluded.era, kept_at = excluded.kept_at",
		identity.LocalTenant, s.id, era, tx.Now()); err != nil {
		return OlderOut{}, err
	}
	tx.AfterCommit(func() {
		s.state.Lock()
		defer s.state.Unlock()
		s.era = era
	})
	op.Note(ctx, "operation", head.Hex())
	return OlderOut{Name: s.name, Head: head.Hex(), Era: era, Lost: []Lost{}, Returned: []Returned{}}, nil
}

// noticeOlder says at a start which repositories were put back.
func (h *Host) noticeOlder(ctx context.Context) {
	for _, s := range h.served {
		lost, err := h.lost(ctx, s)
		if err != nil || len(lost) == 0 {
			continue
		}
		h.Log.Warn("a repository is older than what it acknowledged; replicas bring back what they have", "repo", s.name, "states", len(lost),
			"newest", lost[0].Operation[:12], "next", "tandem repo older "+s.name)
	}
}
