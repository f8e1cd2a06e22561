package journal

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// ReceiptFormat names the receipt's form; docs/formats/journal.md describes it.
const ReceiptFormat = "tandem.receipt/v1"

// Receipt proves that an entry is in the journal. It is checked with the
// journal's public key alone.
type Receipt struct {
	Format string `json:"format"`
	Entry  Entry  `json:"entry"`
	Proof  string `json:"proof"` // C2SP tlog-proof: index, path, signed checkpoint
	Key    string `json:"key"`   // which key signed it; a checker brings its own
}

// proofText writes an inclusion proof and its checkpoint.
func proofText(index int64, path []Hash, checkpoint string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nindex %d\n", proofHeader, index)
	for _, h := range path {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	return b.String() + "\n" + checkpoint
}

const proofHeader = "c2sp.org/tlog-proof@v1"

func parseProof(text string) (index int64, path tlog.RecordProof, checkpoint string, err error) {
	top, checkpoint, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(top, "\n")
	if !ok || len(lines) < 2 || lines[0] != proofHeader {
		return 0, nil, "", fmt.Errorf("it does not begin with %s", proofHeader)
	}
	lines = lines[1:]
	if strings.HasPrefix(lines[0], "extra ") {
		lines = lines[1:]
	}
	number, ok := strings.CutPrefix(lines[0], "index ")
	index, err = strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || index < 0 {
		return 0, nil, "", fmt.Errorf("it names no index")
	}
	if len(lines) > 64 {
		return 0, nil, "", fmt.Errorf("its path is too long")
	}
	for _, l := range lines[1:] {
		h, err := tlog.ParseHash(l)
		if err != nil {
			return 0, nil, "", fmt.Errorf("%q is not a hash", l)
		}
		path = append(path, h)
	}
	return index, path, checkpoint, nil
}

// Prove makes a receipt of one of a tenant's entries. A decision's receipt was
// made with the decision; every other is made now.
func (j *Journal) Prove(ctx context.Context, tenant string, seq int64) (*Receipt, error) {
	var e Entry
	var h head
	var proof, text string
	var key *pair
	var earlier []formerKey
	err := j.db.Read(ctx, func(tx *db.Tx) (err error) {
		if key, err = j.keyIn(tx); err != nil {
			return err
		}
		if earlier, err = j.formerKeys(tx); err != nil {
			return err
		}
		all, err := collect(tx.Query(selectEntry+" WHERE e.tenant = ? AND e.seq = ?", tenant, seq))
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return missing("journal.prove", seq)
		}
		e = all[0]
		if h, err = readHead(tx); err != nil {
			return err
		}
		if err := tx.QueryRow("SELECT proof FROM journal_receipt WHERE seq = ?", seq).Scan(&proof); err == nil || !db.NoRows(err) {
			return err
		}
		if text, err = j.sign(tx, h, 0); err != nil {
			return err
		}
		path, err := tlog.ProveRecord(h.size, seq-1, treeReader(tx, h.size, h.root()))
		if err != nil {
			return fault.New(fault.Unavailable, "journal.prove", "the tree does not hold event %d: %v", seq, err).
				WithNext("somebody changed the database; look for what: tandem audit verify --whole")
		}
		hashes := make([]Hash, len(path))
		for i := range path {
			hashes[i] = Hash(path[i])
		}
		proof = proofText(seq-1, hashes, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if text != "" {
		if err := j.keep(ctx, h, text); err != nil {
			return nil, err
		}
	}
	vkey, err := key.verifier(h.origin)
	for _, k := range earlier { // it was made when the journal had another key
		if _, bad := OpenReceipt(&Receipt{Format: ReceiptFormat, Entry: e, Proof: proof}, vkey); err == nil && text == "" && bad != nil {
			vkey = k.key
		}
	}
	return &Receipt{Format: ReceiptFormat, Entry: e, Proof: proof, Key: vkey}, err
}

// leaveReceipt stores the receipt of the entry that was just pushed, in the
// transaction of the decision. Its path is the edge before it: nothing but
// complete subtrees stands to the left of the last leaf.
func (j *Journal) leaveReceipt(tx *db.Tx, g growth) error {
	h, before := g.to, g.from.nodes
	text, err := j.sign(tx, h, g.chain)
	if err != nil {
		return err
	}
	path := make([]Hash, 0, len(before))
	for i := len(before) - 1; i >= 0; i-- {
		path = append(path, before[i])
	}
	_, err = tx.Exec("INSERT INTO journal_receipt (seq, proof) VALUES (?, ?)", h.size, proofText(h.size-1, path, text))
	if err != nil {
		return err
	}
	if err := storeCheckpoint(tx, h.size, text); err != nil {
		return err
	}
	tx.AfterCommit(func() { j.remember(h, g.chain) })
	return nil
}

// OpenReceipt checks a receipt with a public key and returns the checkpoint
// that vouches for it. It needs no server and no database.
func OpenReceipt(r *Receipt, verifierKey string) (Checkpoint, error) {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "journal.receipt", "the receipt is not good: "+format, args...)
	}
	if r.Format != ReceiptFormat {
		return Checkpoint{}, bad("its format is %q, not %q", r.Format, ReceiptFormat)
	}
	index, path, text, err := parseProof(r.Proof)
	if err != nil {
		return Checkpoint{}, bad("%v", err)
	}
	c, err := OpenCheckpoint(text, verifierKey)
	if err != nil {
		return c, err
	}
	if index != r.Entry.Seq-1 {
		return c, bad("it proves entry %d, not %d", index+1, r.Entry.Seq)
	}
	if err := errors.Join(r.Entry.checkShape(), r.Entry.checkPayload()); err != nil {
		return c, bad("%v", err)
	}
	record := r.Entry.Record()
	if err := tlog.CheckRecord(path, c.Size, tlog.Hash(c.Root), index, tlog.RecordHash(record[:])); err != nil {
		return c, bad("entry %d is not what the signed tree holds", r.Entry.Seq)
	}
	return c, nil
}

// ParseReceipt reads a receipt from its JSON form.
func ParseReceipt(data []byte) (*Receipt, error) {
	var r Receipt
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fault.New(fault.Invalid, "journal.receipt", "this is not a receipt: %v", err)
	}
	return &r, nil
}
