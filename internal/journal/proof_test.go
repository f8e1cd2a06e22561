package journal

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"tandem/internal/db"
	"tandem/internal/fault"
)

func fill(t testing.TB, d *db.DB, j *Journal, n int) {
	t.Helper()
	for i := 0; i < n; {
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			for k := 0; k < 100 && i < n; k, i = k+1, i+1 {
				if _, err := j.Append(tx, Event{Tenant: "ten_a", Type: "a.b", Actor: "act_1", Resource: fmt.Sprintf("a:/%d", i),
					Payload: fmt.Appendf(nil, `{"i": %d, "s": "<&>"}`, i)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A receipt must hold with the public key alone, also for strangers'
// implementations of the same formats.
func TestReceiptsVerifyOffline(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 600)
		seqs := []int64{1, 2, 255, 256, 257, 512, 513, 599, 600}
		for _, seq := range seqs {
			r, err := j.Prove(t.Context(), "ten_a", seq)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			back, err := ParseReceipt(text)
			if err != nil {
				t.Fatal(err)
			}
			c, err := OpenReceipt(back, r.Key)
			if err != nil || c.Size != 600 {
				t.Fatalf("entry %d: %v, size %d", seq, err, c.Size)
			}
			v, err := note.NewVerifier(r.Key)
			if err != nil {
				t.Fatal(err)
			}
			index, path, checkpoint, err := parseProof(r.Proof)
			if err != nil {
				t.Fatal(err)
			}
			cp, _, _, err := log.ParseCheckpoint([]byte(checkpoint), c.Origin, v)
			if err != nil {
				t.Fatalf("another reader of checkpoints: %v", err)
			}
			var hashes [][]byte
			for _, h := range path {
				hashes = append(hashes, h[:])
			}
			record := back.Entry.Record()
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), cp.Size, rfc6962.DefaultHasher.HashLeaf(record[:]), hashes,
				cp.Hash); err != nil {
				t.Fatalf("another reader of proofs: %v", err)
			}
		}
	})
}

func TestForgedReceiptsAreRefused(t *testing.T) {
	d, j := open(t)
	fill(t, d, j, 20)
	good, err := j.Prove(t.Context(), "ten_a", 7)
	if err != nil {
		t.Fatal(err)
	}
	_, other := open(t)
	fill(t, other.db, other, 1)
	otherKey, err := other.VerifierKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(r *Receipt, key *string){
		"actor":         func(r *Receipt, _ *string) { r.Entry.Actor = "act_2" },
		"time":          func(r *Receipt, _ *string) { r.Entry.Time = r.Entry.Time.Add(1000) },
		"number":        func(r *Receipt, _ *string) { r.Entry.Seq = 8 },
		"payload":       func(r *Receipt, _ *string) { r.Entry.Payload = json.RawMessage(`{"i":7}`) },
		"salt moved":    func(r *Receipt, _ *string) { r.Entry.Salt = append(r.Entry.Salt, 0) },
		"payload salt":  func(r *Receipt, _ *string) { r.Entry.PayloadSalt = nil },
		"proof":         func(r *Receipt, _ *string) { r.Proof = strings.Replace(r.Proof, "index 6", "index 5", 1) },
		"checkpoint":    func(r *Receipt, _ *string) { r.Proof = strings.Replace(r.Proof, "\n20\n", "\n21\n", 1) },
		"another's key": func(_ *Receipt, key *string) { *key = otherKey },
		"format":        func(r *Receipt, _ *string) { r.Format = "x" },
		"empty proof":   func(r *Receipt, _ *string) { r.Proof = "" },
	} {
		r, key := *good, good.Key
		r.Entry.Salt = bytes.Clone(r.Entry.Salt)
		forge(&r, &key)
		if _, err := OpenReceipt(&r, key); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenReceipt(good, good.Key); err != nil {
		t.Error(err)
	}
}

func TestDecisionsLeaveReceipts(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		for i := range 300 {
			add(t, d, j, Event{Type: "approval.decide", Receipt: i%7 == 0, Payload: json.RawMessage(`{"answer":"approve"}`)})
		}
		r, err := j.Prove(t.Context(), "ten_a", 295)
		if err != nil {
			t.Fatal(err)
		}
		c, err := OpenReceipt(r, r.Key)
		if err != nil || c.Size != 295 {
			t.Fatalf("the receipt left with decision 295: size %d, %v", c.Size, err)
		}
		rep, err := j.Verify(t.Context(), nil)
		if err != nil || !rep.OK || rep.Receipts != 43 || rep.Signed != 295 {
			t.Fatalf("%+v %v", rep, err)
		}
	})
}

func TestForgettingPayloadsKeepsProofs(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 300)
		before, err := j.Prove(t.Context(), "ten_a", 10)
		if err != nil {
			t.Fatal(err)
		}
		n, err := forget(t, d, j)
		if err != nil || n != 300 {
			t.Fatalf("forgot %d, %v", n, err)
		}
		after, err := j.Prove(t.Context(), "ten_a", 10)
		if err != nil || after.Entry.Payload != nil || after.Entry.PayloadSalt != nil {
			t.Fatalf("%+v %v", after, err)
		}
		for _, r := range []*Receipt{before, after} {
			if _, err := OpenReceipt(r, r.Key); err != nil {
				t.Error(err)
			}
		}
		rep, err := j.Verify(t.Context(), nil)
		if err != nil || !rep.OK || rep.Forgotten != 300 {
			t.Fatalf("%+v %v", rep, err)
		}
	})
}

func forget(t *testing.T, d *db.DB, j *Journal) (n int64, err error) {
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		n, err = Forget(tx, "ten_a", tx.Now().Add(1e9))
		return err
	})
	return n, err
}

// A client of C2SP tiles rebuilds the tree from what we serve.
func TestTilesServeTheTree(t *testing.T) {
	d, j := open(t)
	fill(t, d, j, 70_000)
	get := func(path string) []byte {
		t.Helper()
		data, _, err := j.Static(t.Context(), path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return data
	}
	key, err := j.VerifierKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := OpenCheckpoint(string(get("checkpoint")), key)
	if err != nil || c.Size != 70_000 {
		t.Fatalf("%+v %v", c, err)
	}
	r := tlog.TileHashReader(tlog.Tree{N: c.Size, Hash: tlog.Hash(c.Root)}, served{get})
	for _, n := range []int64{0, 65535, 65536, 69999} {
		p, err := tlog.ProveRecord(c.Size, n, r)
		if err != nil {
			t.Fatal(err)
		}
		width := min(256, c.Size-n/256*256)
		path := "tile/entries/" + tilePath(n/256)
		if width < 256 {
			path += fmt.Sprintf(".p/%d", width)
		}
		bundle := get(path)
		at := int(n%256) * (2 + recordSize)
		record := bundle[at+2 : at+2+recordSize]
		if err := tlog.CheckRecord(p, c.Size, tlog.Hash(c.Root), n, tlog.RecordHash(record)); err != nil {
			t.Fatalf("entry %d: %v", n, err)
		}
	}
	if _, err := tlog.ProveTree(c.Size, 65537, r); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "tile/0/1", "tile/0/x000/001", "tile/0/999", "tile/64/000", "tile/0/000.p/0", "tile/0/000.p/256",
		"tile/0/273.p/200", "../x", "tile/0/x999/x999/x999/x999/x999/x999/999"} {
		if _, _, err := j.Static(t.Context(), bad); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

type served struct{ get func(string) []byte }

func (served) Height() int                     { return 8 }
func (served) SaveTiles([]tlog.Tile, [][]byte) {}
func (s served) ReadTiles(want []tlog.Tile) (out [][]byte, _ error) {
	for _, w := range want {
		path := fmt.Sprintf("tile/%d/%s", w.L, tilePath(w.N))
		if w.W < 256 {
			path += fmt.Sprintf(".p/%d", w.W)
		}
		out = append(out, s.get(path))
	}
	return out, nil
}

func TestSigningRefusesARewrittenJournal(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 300)
		if _, err := j.Anchor(t.Context()); err != nil {
			t.Fatal(err)
		}
		rewrite(t, d, 20)
		add(t, d, j, Event{})
		if _, err := j.Anchor(t.Context()); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a rewritten journal was signed: %v", err)
		}
		fresh := New(d, j.pair.key) // the same after a restart
		if _, err := fresh.Anchor(t.Context()); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a rewritten journal was signed after a restart: %v", err)
		}
	})
}

// A decision is signed without reading the tree while this process alone grew it, and no longer than that.
func TestADecisionSignsNoRewrittenJournal(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 30)
		decide := func() error {
			return d.Write(t.Context(), func(tx *db.Tx) error {
				_, err := j.Append(tx, Event{Tenant: "ten_a", Type: "approval.decide", Receipt: true})
				return err
			})
		}
		for range 3 {
			if err := decide(); err != nil {
				t.Fatal(err)
			}
			add(t, d, j, Event{})
		}
		undone := errors.New("undone")
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := j.Append(tx, Event{Tenant: "ten_a", Type: "approval.decide", Receipt: true})
			return errors.Join(err, undone)
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		if err := decide(); err != nil {
			t.Errorf("after one that was undone: %v", err)
		}
		if _, err := j.Anchor(t.Context()); err != nil {
			t.Errorf("what was signed does not continue: %v", err)
		}
		rewrite(t, d, 20)
		if err := decide(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a decision signed a rewritten journal: %v", err)
		}
	})
}

func TestExportVerifiesOfflineAndHidesOtherTenants(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 50)
		add(t, d, j, Event{Tenant: "ten_b", Type: "secret.plan", Actor: "act_b"})
		fill(t, d, j, 30)
		anchor, err := j.Anchor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := export(t, j, func() { fill(t, d, j, 1) })
		if bytes.Contains(out, []byte("secret.plan")) || bytes.Contains(out, []byte("act_b")) {
			t.Fatal("another tenant's entry is in the export")
		}
		rep, err := VerifyExport(bytes.NewReader(out), anchor.Key, []string{anchor.Checkpoint})
		if err != nil || !rep.OK || rep.Size != 81 || rep.Signed != 81 || rep.Anchored != 81 {
			t.Fatalf("%+v %v", rep, err)
		}
		lines := bytes.SplitAfter(out, []byte("\n"))
		for name, c := range map[string]struct {
			data []byte
			kind string
		}{
			"dropped":   {bytes.Join(append(append([][]byte{}, lines[:10]...), lines[11:]...), nil), Missing},
			"swapped":   {bytes.Join([][]byte{bytes.Join(lines[:5], nil), lines[6], lines[5], bytes.Join(lines[7:], nil)}, nil), Extra},
			"changed":   {bytes.Replace(out, []byte(`"act_1"`), []byte(`"act_2"`), 1), Rewritten},
			"payload":   {bytes.Replace(out, []byte(`{"i":3,`), []byte(`{"i":4,`), 1), Payload},
			"truncated": {bytes.Join(lines[:40], nil), Truncated},
			"garbage":   {append(bytes.Clone(out), "{]\n"...), BadExport},
		} {
			rep, err := VerifyExport(bytes.NewReader(c.data), anchor.Key, nil)
			if err != nil || rep.OK || !has(rep, c.kind) {
				t.Errorf("%s: %+v %v, want %s", name, rep.Findings, err, c.kind)
			}
		}
	})
}

func export(t *testing.T, j *Journal, between func()) []byte {
	t.Helper()
	var out bytes.Buffer
	var after, size int64
	for {
		p, err := j.Export(t.Context(), "ten_a", after, size, 32)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range p.Lines {
			out.Write(l)
			out.WriteByte('\n')
		}
		if p.Next == 0 {
			return out.Bytes()
		}
		after, size = p.Next, p.Size
		between() // the journal grows while somebody exports it
	}
}

func has(r *Report, kind string) bool {
	for _, f := range r.Findings {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

func TestProofText(t *testing.T) {
	h := Hash{1}
	text := proofText(9, []Hash{h}, "o\n10\nx\n\n— o y\n")
	want := "c2sp.org/tlog-proof@v1\nindex 9\n" + base64.StdEncoding.EncodeToString(h[:]) + "\n\no\n10\nx\n\n— o y\n"
	if text != want {
		t.Errorf("%q", text)
	}
	if i, p, c, err := parseProof(strings.Replace(text, "index", "extra YQ==\nindex", 1)); err != nil || i != 9 || len(p) != 1 ||
		!strings.HasPrefix(c, "o\n") {
		t.Errorf("%d %v %q %v", i, p, c, err)
	}
}
