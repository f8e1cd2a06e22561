package host

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/repo"
	"tandem/internal/wholefile"
)

// known is a repository that this server serves or has served: its name belongs
// to its id, so that neither the order of flags nor another folder of that name
// gives one repository the replicas, owners and grants of another.
type known struct {
	id, name, path string
	origin         string // its oldest operation
}

// idPrefix begins a repository's id.
const idPrefix = "repo"

// idFile holds a served repository's id. It is part of the repository, and goes
// where its folder goes.
func (s *served) idFile() string { return filepath.Join(s.store.Dir(), "tandem", "repository.json") }

type idText struct {
	ID string `json:"id"`
}

// readID gives "" for a repository that has none yet.
func (s *served) readID() (string, error) {
	data, err := os.ReadFile(s.idFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var t idText
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err == nil {
		err = id.Check(idPrefix, t.ID)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", s.idFile(), err)
	}
	return t.ID, nil
}

func (s *served) writeID() error {
	if err := os.MkdirAll(filepath.Dir(s.idFile()), 0o755); err != nil {
		return err
	}
	data, err := json.Marshal(idText{s.id})
	if err != nil {
		return err
	}
	return wholefile.Write(s.idFile(), data)
}

// origin is the oldest operation behind the root.
func (s *served) origin(ctx context.Context) (string, error) {
	head, _, _ := s.now()
	oldest := ""
	err := repo.WalkOperations(ctx, s.store, []repo.OperationID{head}, func(o *repo.Operation) (bool, error) {
		if o.ID != repo.RootOperationID {
			oldest = o.ID.Hex()
		}
		return true, nil
	})
	return oldest, err
}

func (h *Host) loadKnown(ctx context.Context) error {
	rows, err := h.DB.Query(ctx, "SELECT id, name, path, origin FROM repo_served WHERE tenant = ?", identity.LocalTenant)
	h.known, err = db.Collect(rows, err, func(r *sql.Rows) (k known, err error) {
		err = r.Scan(&k.id, &k.name, &k.path, &k.origin)
		return k, err
	})
	return err
}

func (h *Host) knownBy(is func(known) bool) (known, bool) {
	i := slices.IndexFunc(h.known, is)
	if i < 0 {
		return known{}, false
	}
	return h.known[i], true
}

// identify gives every opened repository its id and its name. Those that were
// served before go first, so that they keep theirs.
func (h *Host) identify(ctx context.Context) error {
	for _, s := range h.served {
		var err error
		if s.id, err = s.readID(); err != nil {
			return err
		}
		if s.id == "" {
			if s.id = h.lostID(s); s.id == "" {
				s.id = id.New(idPrefix)
			}
			if err := s.writeID(); err != nil {
				return err
			}
		}
	}
	for _, s := range h.served {
		if h.isCopy(s) {
			s.id = id.New(idPrefix)
			if err := s.writeID(); err != nil {
				return err
			}
		}
		if k, ok := h.knownBy(func(k known) bool { return k.id == s.id }); ok {
			s.name = k.name
		}
	}
	for _, s := range h.served {
		if _, ok := h.knownBy(func(k known) bool { return k.id == s.id }); ok {
			continue
		}
		s.name = ""
		name := nameOf(s.root)
		for n := 2; h.taken(s, name); n++ {
			name = fmt.Sprintf("%s-%d", nameOf(s.root), n)
		}
		s.name = name
	}
	return h.keepKnown(ctx)
}

// lostID is the id of a repository that was put back from a copy made before it
// had one: it lies where it lay and has the same beginning.
func (h *Host) lostID(s *served) string {
	k, ok := h.knownBy(func(k known) bool { return k.path == s.root })
	if !ok {
		return ""
	}
	if origin, ok := repo.ParseOperationID(k.origin); !ok || !s.store.HasOperation(origin) {
		return ""
	}
	return k.id
}

// isCopy says whether another folder that is served has the same id and the
// better claim to it: it is where it was, or it was named first.
func (h *Host) isCopy(s *served) bool {
	k, _ := h.knownBy(func(k known) bool { return k.id == s.id })
	for _, other := range h.served {
		if other.id != s.id || other == s {
			continue
		}
		if other.root == k.path || s.root != k.path && slices.Index(h.served, other) < slices.Index(h.served, s) {
			h.Log.Warn("a copy of a served repository is a repository of its own", "copy", s.root, "of", other.root)
			return true
		}
	}
	return false
}

// taken says whether a name is another repository's, served now or before. One
// whose folder holds a new repository has left its name to that.
func (h *Host) taken(s *served, name string) bool {
	if h.byName(name) != nil {
		return true
	}
	k, ok := h.knownBy(func(k known) bool { return k.name == name })
	return ok && k.path != s.root
}

// keepKnown writes down who is who. What was kept by a repository's name, before
// there were ids, becomes the id's.
func (h *Host) keepKnown(ctx context.Context) error {
	err := h.DB.Write(ctx, func(tx *db.Tx) error {
		for _, s := range h.served {
			k, ok := h.knownBy(func(k known) bool { return k.id == s.id })
			switch {
			case ok && k.path == s.root:
				continue
			case ok:
				if _, err := tx.Exec("UPDATE repo_served SET path = ? WHERE tenant = ? AND id = ?", s.root, identity.LocalTenant, s.id); err != nil {
					return err
				}
				continue
			}
			origin, err := s.origin(ctx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec("DELETE FROM repo_served WHERE tenant = ? AND name = ?", identity.LocalTenant, s.name); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO repo_served (tenant, id, name, path, origin) VALUES (?, ?, ?, ?, ?)",
				identity.LocalTenant, s.id, s.name, s.root, origin); err != nil {
				return err
			}
			if err := h.moveOwners(tx, s); err != nil {
				return err
			}
			for _, table := range []string{"repo_workspace", "repo_change"} {
				if _, err := tx.Exec("UPDATE "+table+" SET repo = ? WHERE tenant = ? AND repo = ?", s.id, identity.LocalTenant, s.name); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.loadKnown(ctx)
}
