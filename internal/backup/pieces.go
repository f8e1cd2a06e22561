package backup

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/wholefile"
)

// Beside a copy in a folder stands the list of the pieces that it refers to, by their names, which say nothing of what is in them. With it
// whoever cannot open the copy, as a server that locks its copies to somebody else, knows what may go.

func piecesOf(path string) string { return strings.TrimSuffix(path, ".copy") + ".pieces" }

// writePieces keeps the list, before the copy itself is there.
func writePieces(path string, names map[string]bool) error {
	return wholefile.Write(piecesOf(path), []byte(strings.Join(slices.Sorted(maps.Keys(names)), "\n")+"\n"))
}

// listed notes the pieces that the list beside a copy names.
func listed(path string, used map[string]bool) error {
	data, err := os.ReadFile(piecesOf(path))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(data) {
		name := string(bytes.TrimSpace(line))
		if raw, err := hex.DecodeString(name); name != "" && (err != nil || len(raw) != 32) {
			return damaged("the list of pieces beside %s", filepath.Base(path))
		}
		used[name] = true
	}
	return nil
}

// forsaken removes lists whose copies are not there.
func forsaken(folder string) error {
	lists, err := named(folder, piecesName)
	for _, list := range lists {
		if _, there := os.Lstat(strings.TrimSuffix(list, ".pieces") + ".copy"); errors.Is(there, fs.ErrNotExist) {
			err = errors.Join(err, os.Remove(list))
		}
	}
	return err
}
