package journal

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the vectors anew")

const vectorFile = "../../docs/formats/vectors/journal.json"

type vector struct {
	Seed       string   `json:"seed"`
	Key        string   `json:"key"`
	Entries    []Entry  `json:"entries"`
	Records    []string `json:"records"`
	Leaves     []string `json:"leaves"`
	Roots      []string `json:"roots"`
	Checkpoint string   `json:"checkpoint"`
	Receipt    Receipt  `json:"receipt"`
}

// makeVector builds the vector's journal from fixed salts.
func makeVector(t *testing.T) vector {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	const origin = "tandem.localhost/journal/vectorvectorvect"
	v := vector{Seed: hex.EncodeToString(key.Seed())}
	var err error
	if v.Key, err = verifierKey(origin, key); err != nil {
		t.Fatal(err)
	}
	var tree edge
	var before []Hash
	for i, ev := range []Event{
		{Type: "resource.put", Actor: "act_a", Resource: "resource:/lock/deploy", Request: "req_1",
			Payload: json.RawMessage(`{"key":"lock/deploy"}`)},
		{Type: "tool.call", Phase: Intent, Actor: "act_b", For: []string{"act_a", "act_c"}, Resource: "tool:/edit"},
		{Type: "tool.call", Phase: Outcome, Actor: "act_b", For: []string{"act_a", "act_c"}, Resource: "tool:/edit", Cause: 2,
			Payload: json.RawMessage(`{"text":"<b> & é \u2028"}`)},
		{Type: "board.claim", Phase: Denied, Actor: "act_d", Resource: "board:/x"},
	} {
		ev.Tenant = "ten_v"
		if err := ev.check(); err != nil {
			t.Fatal(err)
		}
		e := entry(ev, int64(i+1), time.UnixMicro(1_800_000_000_000_000+int64(i)).UTC())
		e.Salt = bytes.Repeat([]byte{byte(i + 1)}, saltSize)
		if e.Payload != nil {
			e.PayloadSalt = bytes.Repeat([]byte{byte(0x80 + i)}, saltSize)
			h := payloadHash(e.PayloadSalt, e.Payload)
			e.PayloadHash = h[:]
		}
		record := e.Record()
		leaf := leafHash(record[:])
		before = append([]Hash(nil), tree.nodes...)
		tree.push(leaf)
		root := tree.root()
		v.Entries = append(v.Entries, *e)
		v.Records = append(v.Records, hex.EncodeToString(record[:]))
		v.Leaves = append(v.Leaves, hex.EncodeToString(leaf[:]))
		v.Roots = append(v.Roots, hex.EncodeToString(root[:]))
	}
	if v.Checkpoint, err = signCheckpoint(Checkpoint{origin, tree.size, tree.root()}, key); err != nil {
		t.Fatal(err)
	}
	path := []Hash{before[1], before[0]}
	v.Receipt = Receipt{Format: ReceiptFormat, Entry: v.Entries[3], Proof: proofText(3, path, v.Checkpoint), Key: v.Key}
	return v
}

// The published vectors and the code say the same; a change of format shows
// here first.
func TestVectors(t *testing.T) {
	got, err := json.MarshalIndent(makeVector(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(vectorFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("the vectors changed:\n%s", got)
	}
	var v vector
	if err := json.Unmarshal(want, &v); err != nil {
		t.Fatal(err)
	}
	if c, err := OpenReceipt(&v.Receipt, v.Key); err != nil || c.Size != 4 {
		t.Errorf("the published receipt: %v", err)
	}
	for i := range v.Entries {
		record := v.Entries[i].Record()
		if hex.EncodeToString(record[:]) != v.Records[i] {
			t.Errorf("entry %d does not survive JSON", i+1)
		}
		if err := v.Entries[i].checkPayload(); err != nil {
			t.Errorf("entry %d: %v", i+1, err)
		}
	}
}

// Parsers of foreign bytes never panic, and what they accept they wrote.
func FuzzReceipt(f *testing.F) {
	data, err := os.ReadFile(vectorFile)
	if err != nil {
		f.Fatal(err)
	}
	var v vector
	if err := json.Unmarshal(data, &v); err != nil {
		f.Fatal(err)
	}
	f.Add(v.Receipt.Proof)
	f.Add("c2sp.org/tlog-proof@v1\nindex 0\n\n")
	f.Fuzz(func(t *testing.T, proof string) {
		r := v.Receipt
		r.Proof = proof
		if c, err := OpenReceipt(&r, v.Key); err == nil && (c.Size != 4 || r.Entry.Seq != 4) {
			t.Errorf("accepted a proof of %+v", c)
		}
	})
}
