package journal

import (
	"context"
	"errors"
	"fmt"

	"tandem/internal/db"
)

// State is where a journal stood: the name that its signatures bear, its size and the
// root of its tree.
type State struct {
	Origin string `json:"origin"`
	Size   int64  `json:"size"`
	Root   string `json:"root"`
}

func state(h head) *State {
	if h.size == 0 {
		return nil
	}
	return &State{Origin: h.origin, Size: h.size, Root: fmt.Sprintf("%x", h.root())}
}

// Known is where the journal of a database stands, nil when it has none.
func Known(ctx context.Context, d *db.DB) (*State, error) {
	var out *State
	err := d.Read(ctx, func(tx *db.Tx) error {
		var n int
		if tx.QueryRow("SELECT count(*) FROM journal_head").Scan(&n) != nil || n == 0 {
			return nil // no tables yet
		}
		h, err := readHead(tx)
		out = state(h)
		return err
	})
	return out, err
}

// Reborn lets a journal that was restored from a copy go on under a new origin: the
// house that the copy was made of may have gone on as well, and two journals that part
// must not sign under one name. What was signed under the old name still counts for what
// was there then.
func (j *Journal) Reborn(tx *db.Tx) (was *State, err error) {
	h, err := lockHead(tx)
	if err != nil || h.size == 0 {
		return nil, err
	}
	if _, err := tx.Exec("INSERT INTO journal_origin (origin, size, left_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", h.origin, h.size,
		tx.Now()); err != nil {
		return nil, err
	}
	was = state(h)
	if _, err := tx.Exec("UPDATE journal_head SET origin = ? WHERE id = 1", newOrigin()); err != nil {
		return nil, err
	}
	j.keepHead(head{}, true)
	return was, nil
}

// formerKey checks what was signed under a name that the journal had, up to the size
// that it had when it left it.
type formerKey struct {
	key  string
	size int64
}

func (j *Journal) formerKeys(tx *db.Tx) (out []formerKey, err error) {
	names, err := former(tx)
	if err != nil {
		return nil, err
	}
	present, err := j.keyIn(tx)
	if err != nil {
		return nil, err
	}
	had, err := j.had(tx)
	if err != nil {
		return nil, err
	}
	add := func(key string, keyErr error, size int64) {
		out, err = append(out, formerKey{key, size}), errors.Join(err, keyErr)
	}
	h, err := readHead(tx)
	if err != nil {
		return nil, err
	}
	for origin, size := range names {
		key, keyErr := present.verifier(origin)
		add(key, keyErr, size)
		for _, k := range had {
			key, keyErr := k.verifier(origin)
			add(key, keyErr, min(size, k.size))
		}
	}
	for _, k := range had {
		key, keyErr := k.verifier(h.origin)
		add(key, keyErr, k.size)
	}
	return out, err
}

// open reads a checkpoint that was signed under the journal's name, or under one that it
// had when it was no larger.
func (c *checker) open(text, key string) (Checkpoint, error) {
	cp, err := OpenCheckpoint(text, key)
	for _, f := range c.former {
		if err == nil {
			break
		}
		if old, oldErr := OpenCheckpoint(text, f.key); oldErr == nil && old.Size <= f.size {
			return old, nil
		}
	}
	return cp, err
}

// former are the names that a journal had, each with its size when it left it.
func former(tx *db.Tx) (map[string]int64, error) {
	rows, err := tx.Query("SELECT origin, size FROM journal_origin")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var origin string
		var size int64
		if err := rows.Scan(&origin, &size); err != nil {
			return nil, err
		}
		out[origin] = size
	}
	return out, rows.Err()
}
