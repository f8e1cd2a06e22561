package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// readTile reads the first width hashes of a tile: from its row when the tile
// is full, else from what it will be made of.
func readTile(tx *db.Tx, level int, n int64, width int) ([]byte, error) {
	var full []byte
	err := tx.QueryRow("SELECT hashes FROM journal_tile WHERE level = ? AND n = ?", level, n).Scan(&full)
	if err == nil && len(full) >= width*sha256.Size {
		return full[:width*sha256.Size], nil
	}
	if err != nil && !db.NoRows(err) {
		return nil, err
	}
	parts, err := tileParts(tx, level, n, width)
	if err != nil {
		return nil, err
	}
	if len(parts) != width*sha256.Size {
		return nil, fault.New(fault.NotFound, "journal.tile", "tile %d/%d has no %d hashes yet", level, n, width)
	}
	return parts, nil
}

// tileParts collects the hashes of a tile from the level below.
func tileParts(tx *db.Tx, level int, n int64, width int) ([]byte, error) {
	first := n * tileWidth
	query, args := "SELECT leaf FROM journal_event WHERE seq > ? AND seq <= ? ORDER BY seq", []any{first, first + int64(width)}
	if level > 0 {
		query = "SELECT root FROM journal_tile WHERE level = ? AND n >= ? AND n < ? ORDER BY n"
		args = []any{level - 1, first, first + int64(width)}
	}
	rows, err := tx.Query(query, args...)
	hashes, err := db.Collect(rows, err, func(r *sql.Rows) (b []byte, err error) { return b, r.Scan(&b) })
	data := make([]byte, 0, width*sha256.Size)
	for _, h := range hashes {
		data = append(data, h...)
	}
	return data, err
}

// tiles reads tiles for tlog, which checks each against the tree's root.
type tiles struct{ tx *db.Tx }

func (tiles) Height() int { return tileHeight }

func (t tiles) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	out := make([][]byte, len(want))
	for i, w := range want {
		var err error
		if out[i], err = readTile(t.tx, w.L, w.N, w.W); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func treeReader(tx *db.Tx, size int64, root Hash) tlog.HashReader {
	return tlog.TileHashReader(tlog.Tree{N: size, Hash: tlog.Hash(root)}, tiles{tx})
}

// rootAt is the root of the tree as it was at a size.
func rootAt(tx *db.Tx, h head, size int64) (Hash, error) {
	root, err := tlog.TreeHash(size, treeReader(tx, h.size, h.root()))
	return Hash(root), err
}

var staticPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^tile/([0-9]|[1-5][0-9]|6[0-3]|entries)/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?$`)
})

// Static answers the paths of C2SP tlog-tiles below the journal's prefix:
// "checkpoint", "tile/<level>/<n>[.p/<width>]" and "tile/entries/<n>[.p/…]".
// Tiles never change once they exist; a checkpoint does.
func (j *Journal) Static(ctx context.Context, path string) (data []byte, immutable bool, err error) {
	if path == "checkpoint" {
		a, err := j.Anchor(ctx)
		if err != nil {
			return nil, false, err
		}
		return []byte(a.Checkpoint), false, nil
	}
	m := staticPath().FindStringSubmatch(path)
	if m == nil {
		return nil, false, fault.New(fault.NotFound, "journal.tile", "no such part of the journal: %q", path)
	}
	n, err := strconv.ParseInt(strings.NewReplacer("x", "", "/", "").Replace(m[2]), 10, 40)
	width := tileWidth
	if m[3] != "" {
		width, _ = strconv.Atoi(m[3])
	}
	if err != nil || width > tileWidth || (width == tileWidth && m[3] != "") || tilePath(n) != m[2] {
		return nil, false, fault.New(fault.NotFound, "journal.tile", "no such part of the journal: %q", path)
	}
	err = j.db.Read(ctx, func(tx *db.Tx) (err error) {
		if m[1] == "entries" {
			data, err = entryBundle(tx, n, width)
			return err
		}
		level, _ := strconv.Atoi(m[1])
		data, err = readTile(tx, level, n, width)
		return err
	})
	return data, true, err
}

// tilePath writes a tile's number as C2SP does: groups of three digits, all
// but the last with an x before them.
func tilePath(n int64) string {
	s := fmt.Sprintf("%03d", n%1000)
	for n >= 1000 {
		n /= 1000
		s = fmt.Sprintf("x%03d/%s", n%1000, s)
	}
	return s
}

// entryBundle is the leaves' records, each behind its length. They hold
// nothing that a stranger could read a name or a payload from.
func entryBundle(tx *db.Tx, n int64, width int) ([]byte, error) {
	first := n * tileWidth
	all, err := collect(tx.Query(selectEntry+" WHERE e.seq > ? AND e.seq <= ? ORDER BY e.seq", first, first+int64(width)))
	if err != nil {
		return nil, err
	}
	if len(all) != width {
		return nil, fault.New(fault.NotFound, "journal.tile", "entries %d has no %d entries yet", n, width)
	}
	var out []byte
	for i := range all {
		r := all[i].Record()
		out = binary.BigEndian.AppendUint16(out, recordSize)
		out = append(out, r[:]...)
	}
	return out, nil
}
