package journal

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// ExportFormat names the form of an export: one JSON object a line, first a
// line about the journal, then every entry, then the signed checkpoint.
const ExportFormat = "tandem.journal/v1"

// line is any line of an export.
type line struct {
	Format     string    `json:"format,omitempty"`
	Origin     string    `json:"origin,omitempty"`
	Key        string    `json:"key,omitempty"`
	Size       int64     `json:"size,omitempty"`
	Checkpoint string    `json:"checkpoint,omitempty"`
	Entry      *Entry    `json:"entry,omitempty"`
	Hidden     *leafLine `json:"hidden,omitempty"` // another tenant's entry: its leaf and nothing else
}

type leafLine struct {
	Seq  int64  `json:"seq"`
	Leaf []byte `json:"leaf"`
}

// Page is one part of an export.
type Page struct {
	Lines []json.RawMessage `json:"lines"`
	Size  int64             `json:"size"` // the journal's size that the whole export has
	Next  int64             `json:"next"` // After of the next page; 0 when this was the last
}

// Export returns one page of a tenant's export: the entries after a sequence
// number, in a journal of size entries (0: as it stands). The first page
// begins with the line about the journal, the last ends with its checkpoint.
func (j *Journal) Export(ctx context.Context, tenant string, after, size int64, limit int) (*Page, error) {
	if tenant == "" {
		return nil, fault.New(fault.Internal, "journal.export", "an export names its tenant")
	}
	if limit <= 0 || limit > maxRead {
		limit = maxRead
	}
	page := &Page{}
	add := func(l line) error {
		b, err := json.Marshal(l)
		page.Lines = append(page.Lines, b)
		return err
	}
	var h head
	var text string
	err := j.db.ReadWide(ctx, func(tx *db.Tx) error {
		var err error
		page.Lines = nil
		if h, err = readHead(tx); err != nil {
			return err
		}
		if size <= 0 || size > h.size {
			size = h.size
		}
		page.Size = size
		key, err := j.keyIn(tx)
		if err != nil {
			return err
		}
		vkey, err := key.verifier(h.origin)
		if err != nil {
			return err
		}
		if after <= 0 {
			after = 0
			if err := add(line{Format: ExportFormat, Origin: h.origin, Key: vkey, Size: size}); err != nil {
				return err
			}
		}
		all, err := collect(tx.Query(selectEntry+" WHERE e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?", after, size, limit))
		if err != nil {
			return err
		}
		for i := range all {
			l := line{Entry: &all[i]}
			if all[i].Tenant != tenant {
				record := all[i].Record()
				leaf := leafHash(record[:])
				l = line{Hidden: &leafLine{all[i].Seq, leaf[:]}}
			}
			if err := add(l); err != nil {
				return err
			}
		}
		if n := len(all); n == limit && all[n-1].Seq < size {
			page.Next = all[n-1].Seq
			return nil
		}
		text, err = j.signAt(tx, h, size)
		if err != nil {
			return err
		}
		return add(line{Checkpoint: text})
	})
	return page, err
}

// signAt signs the tree as it was at a size.
func (j *Journal) signAt(tx *db.Tx, h head, size int64) (string, error) {
	now, err := j.sign(tx, h, 0)
	if err != nil || size == h.size {
		return now, err
	}
	root, err := rootAt(tx, h, size)
	if err != nil {
		return "", err
	}
	key, err := j.keyIn(tx)
	if err != nil {
		return "", err
	}
	return signCheckpoint(Checkpoint{Origin: h.origin, Size: size, Root: root}, key.key)
}

// VerifyExport checks an export with nothing but the journal's public key, and
// holds it against anchors.
func VerifyExport(r io.Reader, key string, anchors []string) (*Report, error) {
	c := newChecker()
	c.report.Key = key
	for i, text := range anchors {
		c.addAnchor(fmt.Sprintf("anchor %d", i+1), text, key)
	}
	in := bufio.NewReaderSize(r, 1<<16)
	var last Checkpoint
	signed, n := false, 0
	for {
		raw, err := in.ReadBytes('\n')
		if len(raw) > 0 {
			n++
			var l line
			if bad := json.Unmarshal(raw, &l); bad != nil {
				c.report.find(BadExport, 0, "line %d cannot be read: %v", n, bad)
			} else if l.Checkpoint != "" {
				last, bad = OpenCheckpoint(l.Checkpoint, key)
				signed = bad == nil
				if bad != nil {
					c.report.find(Signature, 0, "the export's checkpoint: %v", bad)
				}
			} else {
				c.exportLine(n, &l)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	c.exportEnd(last, signed)
	return c.finish(), nil
}

func (c *checker) exportLine(n int, l *line) {
	switch {
	case l.Format != "":
		c.report.Origin = l.Origin
		if l.Format != ExportFormat {
			c.report.find(BadExport, 0, "line %d: this program reads %s, not %s", n, ExportFormat, l.Format)
		}
	case l.Entry != nil && c.inPlace(l.Entry.Seq):
		c.entry(l.Entry, nil)
	case l.Hidden != nil && c.inPlace(l.Hidden.Seq):
		if len(l.Hidden.Leaf) != sha256.Size {
			c.report.find(Changed, l.Hidden.Seq, "the leaf of entry %d has %d bytes", l.Hidden.Seq, len(l.Hidden.Leaf))
			return
		}
		c.leaf(Hash(l.Hidden.Leaf))
	}
}

// inPlace reports a line that is not the next one. Without tiles nobody knows
// the leaves of those between, so the tree ends there.
func (c *checker) inPlace(seq int64) bool {
	if seq == c.size+1 {
		return true
	}
	if seq <= c.size {
		c.report.find(Extra, seq, "entry %d has no place in the sequence", seq)
		return false
	}
	c.report.find(Missing, c.size+1, "entries %d to %d are gone", c.size+1, seq-1)
	c.skip(seq - 1)
	return true
}

func (c *checker) exportEnd(last Checkpoint, signed bool) {
	switch {
	case !signed:
		c.report.find(Truncated, c.size+1, "the export does not end with a good checkpoint")
	case last.Size == c.size && c.broken:
	case last.Size == c.size:
		c.try(claim{who: "the export's checkpoint", root: last.Root, good: func() { c.report.Signed = last.Size }})
	case last.Size > c.size:
		c.report.find(Truncated, c.size+1, "the checkpoint counts %d entries and the export ends at %d", last.Size, c.size)
	default:
		c.report.find(Extra, last.Size+1, "the checkpoint counts %d entries and the export has %d", last.Size, c.size)
	}
}
