package backup

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Prune keeps the newest copies of a folder and removes the older ones. Pieces are
// removed by name when no copy that is left refers to them. Of a copy that cannot be
// opened the list beside it says that; where one has neither, all pieces stay. So they do while another copy is under way there, which may
// count on pieces that no copy refers to yet.
func Prune(folder string, keep int, secrets Secret) (gone []string, err error) {
	underWay, _, err := halves(folder, time.Now()) // before the copies: one that ends meanwhile is among those or these
	if err != nil || keep <= 0 {
		return nil, err
	}
	list, err := Copies(folder)
	if err != nil {
		return nil, err
	}
	for len(list) > keep {
		if err := os.Remove(list[0]); err != nil {
			return gone, err
		}
		gone, list = append(gone, list[0]), list[1:]
	}
	used := map[string]bool{}
	for _, path := range list {
		if references(path, secrets, used) != nil && listed(path, used) != nil {
			return gone, nil // its pieces are not known, so none can go
		}
	}
	began, _, err := halves(folder, time.Now())
	if err != nil || len(underWay)+len(began) > 0 {
		return gone, err
	}
	if now, err := Copies(folder); err != nil || !slices.Equal(now, list) {
		return gone, err // one was made meanwhile: its pieces are not among those that are known
	}
	if err := forsaken(folder); err != nil {
		return gone, err
	}
	return gone, sweep(filepath.Join(folder, "chunks"), used)
}

// references notes the pieces that a copy refers to.
func references(path string, s Secret, used map[string]bool) error {
	r, err := Open(path, s)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		kind, data, err := r.record()
		if err != nil {
			return err
		}
		switch kind {
		case kindChunk:
			if len(data) != 64 {
				return damaged("a reference of %d bytes", len(data))
			}
			used[hex.EncodeToString(data[:32])] = true
		case kindEnd:
			return nil
		}
	}
}

func sweep(chunks string, used map[string]bool) error {
	err := filepath.WalkDir(chunks, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name := filepath.Base(filepath.Dir(path)) + e.Name()
		if halfPiece.MatchString(name) || pieceName.MatchString(name) && !used[name] {
			return os.Remove(path)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// idle is for how long nothing is written of a copy that was cut off.
const idle = time.Hour

// Halves removes what copies that were cut off left in a folder, in which other things of other people may be, and names what went.
func Halves(folder string, now time.Time) (gone []string, err error) {
	_, left, err := halves(folder, now)
	for _, path := range left {
		if removeErr := os.Remove(path); removeErr != nil {
			err = errors.Join(err, removeErr)
		} else {
			gone = append(gone, path)
		}
	}
	return gone, err
}

// halves are the files of copies that are not there yet: of those that may be under way, and what was left of others.
func halves(folder string, now time.Time) (underWay, left []string, err error) {
	list, err := named(folder, halfCopy)
	for _, path := range list {
		st, statErr := os.Lstat(path)
		switch {
		case statErr != nil || !st.Mode().IsRegular():
		case now.Sub(st.ModTime()) > idle:
			left = append(left, path)
		default:
			underWay = append(underWay, path)
		}
	}
	return underWay, left, err
}
