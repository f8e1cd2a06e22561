package journal

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// The kinds of finding: what a check can name.
const (
	Changed   = "changed"    // an entry is not the one that was recorded
	Payload   = "payload"    // an entry's payload is not the one that was recorded
	Missing   = "missing"    // entries are gone from the middle
	Truncated = "truncated"  // entries are gone from the end
	Extra     = "extra"      // something is there that was never recorded
	Tile      = "tile"       // a tile of the tree is wrong or gone
	Head      = "head"       // the head row does not fit the entries
	Rewritten = "rewritten"  // the entries are not those that were signed
	Signature = "signature"  // a checkpoint or receipt is not signed by the journal's key
	BadProof  = "proof"      // a stored receipt does not prove its entry
	Orphan    = "orphan"     // a row confers authority and no entry vouches for it
	BadExport = "unreadable" // a line of an export cannot be read
)

// Finding is one thing that is wrong.
type Finding struct {
	Kind string `json:"kind"`
	Seq  int64  `json:"seq,omitempty"` // the entry, or the first of them
	What string `json:"what"`
}

// Report is what a check found, and what it can and cannot vouch for.
type Report struct {
	OK        bool   `json:"ok"`
	Origin    string `json:"origin"`
	Key       string `json:"key"`
	Size      int64  `json:"size"`
	Root      string `json:"root"`
	Forgotten int64  `json:"forgotten"`        // entries whose payload retention deleted
	Erased    int64  `json:"erased,omitempty"` // entries of tenants that were erased: their hashes are left
	// From is up to where an earlier check found nothing: those entries were not read again. 0 when all were.
	From     int64     `json:"from,omitempty"`
	FromTime time.Time `json:"from_time,omitzero"`
	Signed   int64     `json:"signed"`   // entries 1 to this are under a good signature
	Anchored int64     `json:"anchored"` // entries 1 to this are those of an anchor from outside
	Receipts int64     `json:"receipts"` // stored receipts that hold
	Findings []Finding `json:"findings"`
	More     int64     `json:"more,omitempty"` // findings beyond those listed
	Excludes []string  `json:"excludes"`
	Cannot   []string  `json:"cannot_exclude"`
}

const maxFindings = 100

func (r *Report) find(kind string, seq int64, format string, args ...any) {
	if len(r.Findings) == maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, Finding{kind, seq, fmt.Sprintf(format, args...)})
}

// claim is somebody's word that the tree had a root at a size.
type claim struct {
	who    string
	root   Hash
	good   func() // called when the entries bear it out
	anchor bool
}

// checker rebuilds the tree from its entries and holds it against everything
// that was ever said about it.
type checker struct {
	former []formerKey // names that the journal had before it was restored
	edge
	report  *Report
	claims  map[int64][]claim
	erased  func(tenant string) stood // the house's word that a tenant's entries are without theirs; nil for none
	left    map[string]Hash           // by tenant, a digest of its entries without words
	broken  bool                      // entries are missing and nobody knows their leaves
	brought int                       // anchors, whether they held or not
	parts   [8][]byte                 // the hashes of the tiles that are not full yet, by level
}

func newChecker() *checker {
	return &checker{report: &Report{Findings: []Finding{}}, claims: map[int64][]claim{}, left: map[string]Hash{}}
}

func (c *checker) claim(size int64, cl claim) { c.claims[size] = append(c.claims[size], cl) }

// entry checks one entry against the leaf that was recorded for it (nil when
// nothing but the entry is at hand) and adds it to the tree.
func (c *checker) entry(e *Entry, recorded *Hash) []closed {
	record := e.Record()
	leaf := leafHash(record[:])
	if recorded != nil && leaf != *recorded {
		c.report.find(Changed, e.Seq, "entry %d (%s at %s) is not the one that was recorded", e.Seq, e.Type, e.Time.Format(time.RFC3339))
		leaf = *recorded
	}
	shape := e.checkShape
	if c.mayBeBare(e) {
		c.report.Erased++
		c.left[e.Tenant] = e.fold(c.left[e.Tenant])
		shape = e.checkBare
	}
	if err := shape(); err != nil {
		c.report.find(Changed, e.Seq, "entry %d: %v", e.Seq, err)
	}
	if err := e.checkPayload(); err != nil {
		c.report.find(Payload, e.Seq, "entry %d: %v", e.Seq, err)
	}
	if len(e.PayloadHash) > 0 && len(e.Payload) == 0 && !e.bare() {
		c.report.Forgotten++
	}
	return c.leaf(leaf)
}

// leaf adds a leaf to the tree and tries the claims about its size.
func (c *checker) leaf(h Hash) []closed {
	if c.broken {
		c.size++
		return nil
	}
	full := c.push(h)
	for _, cl := range c.claims[c.size] {
		c.try(cl)
	}
	return full
}

// skip goes on behind entries that are gone and whose leaves nobody knows:
// from there on entries are checked one by one, and no root any more.
func (c *checker) skip(last int64) { c.broken, c.size = true, last }

func (c *checker) try(cl claim) {
	switch {
	case cl.root == c.root():
		cl.good()
	case cl.anchor:
		c.report.find(Rewritten, 0, "the first %d entries are not those of %s: something before entry %d was rewritten", c.size, cl.who, c.size+1)
	default:
		c.report.find(Rewritten, 0, "the first %d entries are not those of %s", c.size, cl.who)
	}
}

// finish tries the claims that are left and draws the conclusions.
func (c *checker) finish() *Report {
	r := c.report
	r.Size = c.size
	if !c.broken {
		r.Root = fmt.Sprintf("%x", c.root())
	}
	if c.size == 0 {
		for _, cl := range c.claims[0] {
			c.try(cl)
		}
	}
	var sizes []int64
	for size := range c.claims {
		if size > c.size {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	for _, size := range sizes {
		for _, cl := range c.claims[size] {
			r.find(Truncated, c.size+1, "%s counts %d entries and the journal ends at %d: entries %d to %d are gone", cl.who, size, c.size, c.size+1,
				size)
		}
	}
	r.OK = len(r.Findings) == 0
	r.conclude(c.brought)
	return r
}

// conclude says what follows from the checks, and what does not.
func (r *Report) conclude(anchors int) {
	if r.OK && r.From > 0 {
		r.Excludes = append(r.Excludes,
			fmt.Sprintf("The tree begins with the %d entries that were checked at %s: its root is the one that was signed then.",
				r.From, r.FromTime.Format(time.RFC3339)))
		if r.From < r.Size {
			r.Excludes = append(r.Excludes, fmt.Sprintf("Entries %d to %d are those that the tree holds, in their places, without a gap.", r.From+1,
				r.Size))
		}
	}
	if r.From > 0 {
		r.Cannot = append(r.Cannot,
			fmt.Sprintf("Entries 1 to %d were not read again: whether a row of theirs was changed since says tandem audit verify --whole.",
				r.From))
	}
	if r.OK && r.From == 0 {
		r.Excludes = append(r.Excludes, fmt.Sprintf("Every one of the %d entries is the one that the tree holds, in its place, without a gap.",
			r.Size))
		if r.Signed > 0 {
			r.Excludes = append(r.Excludes, fmt.Sprintf("Nobody without the signing key changed entries 1 to %d.", r.Signed))
		}
		if r.Anchored > 0 {
			r.Excludes = append(r.Excludes, fmt.Sprintf("Nobody at all changed, dropped or reordered entries 1 to %d since the anchor was taken.",
				r.Anchored))
		}
	}
	if r.Signed < r.Size {
		which, them := fmt.Sprintf("Entries %d to %d are", r.Signed+1, r.Size), "them"
		if r.Signed+1 == r.Size {
			which, them = fmt.Sprintf("Entry %d is", r.Size), "it"
		}
		r.Cannot = append(r.Cannot, which+" not under a signature yet: whoever can write to the database could have changed "+them+".")
	}
	switch {
	case r.Anchored == 0 && anchors > 0:
		r.Cannot = append(r.Cannot, "No anchor that was brought held, so nothing here is vouched for from outside: "+
			"either an anchor is not this journal's or was changed, or the journal was rewritten or cut. The findings say which.")
	case r.Anchored == 0:
		r.Cannot = append(r.Cannot, "No anchor was brought: whoever holds the signing key could have rewritten everything, "+
			"and whoever can write to the database could have cut off the end together with its checkpoints. "+
			"Take one now and keep it elsewhere: tandem audit anchor")
	default:
		r.Cannot = append(r.Cannot, fmt.Sprintf("What came after entry %d may have been cut off or, with the signing key, rewritten: "+
			"a newer anchor would tell.", r.Anchored))
	}
	r.Cannot = append(r.Cannot, "Something may have happened that was never recorded.")
}

// sameHash compares a stored hash with a computed one.
func sameHash(stored []byte, h Hash) bool { return bytes.Equal(stored, h[:]) }
