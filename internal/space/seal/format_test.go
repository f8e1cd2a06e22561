package seal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// formatVectors is docs/formats/vectors/envelope.json: everything another
// implementation needs to check that it reads envelopes as this one does.
type formatVectors struct {
	SenderSeed    []byte   `json:"sender_seed"`
	Sender        Card     `json:"sender"`
	RecipientSeed []byte   `json:"recipient_seed"`
	Recipient     Card     `json:"recipient"`
	Key           EpochKey `json:"epoch_key"`
	Cases         []struct {
		Content  []byte   `json:"content"`
		Envelope Envelope `json:"envelope"`
		Hash     string   `json:"hash"`
	} `json:"cases"`
	SpaceKey Key `json:"space_key"`
	Tags     []struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
		Tag  string `json:"tag"`
	} `json:"tags"`
	Phrase struct {
		In  []byte `json:"in"`
		Out string `json:"out"`
	} `json:"phrase"`
}

// Those of version 1 are never written again: what was sealed once stays readable.
func TestFormatVectors(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "docs", "formats", "vectors")
	if os.Getenv("TANDEM_WRITE_VECTORS") != "" {
		writeVectors(t, filepath.Join(folder, "envelope-v2.json"))
	}
	readVectors(t, filepath.Join(folder, "envelope.json"), 1)
	readVectors(t, filepath.Join(folder, "envelope-v2.json"), 2)
}

func readVectors(t *testing.T, path string, version int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v formatVectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	sender, err := IdentityFromSeed(v.SenderSeed)
	if err != nil {
		t.Fatal(err)
	}
	recipient, err := IdentityFromSeed(v.RecipientSeed)
	if err != nil {
		t.Fatal(err)
	}
	if !sender.card.Equal(v.Sender) || !recipient.card.Equal(v.Recipient) {
		t.Fatal("the seeds no longer give the cards")
	}
	if len(v.Cases) != 3 {
		t.Fatalf("%d cases", len(v.Cases))
	}
	for _, c := range v.Cases {
		got, err := v.Key.Open(recipient, sender.card, nil, &c.Envelope)
		if err != nil || !bytes.Equal(got, c.Content) {
			t.Errorf("%s: %q, %v", c.Envelope.ID, got, err)
		}
		if c.Envelope.V != version {
			t.Errorf("%s is of version %d", c.Envelope.ID, c.Envelope.V)
		}
		if h := c.Envelope.Hash(); hex.EncodeToString(h[:]) != c.Hash {
			t.Errorf("%s: hash %x, want %s", c.Envelope.ID, h, c.Hash)
		}
	}
	for _, tag := range v.Tags {
		if got := v.SpaceKey.Tag(tag.Kind, tag.Name); got != tag.Tag {
			t.Errorf("tag of %s %q = %s, want %s", tag.Kind, tag.Name, got, tag.Tag)
		}
	}
	if got := phrase(v.Phrase.In); got != v.Phrase.Out {
		t.Errorf("phrase %s, want %s", got, v.Phrase.Out)
	}
}

func writeVectors(t *testing.T, path string) {
	t.Helper()
	var v formatVectors
	v.SenderSeed, v.RecipientSeed = bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	a, err := IdentityFromSeed(v.SenderSeed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := IdentityFromSeed(v.RecipientSeed)
	if err != nil {
		t.Fatal(err)
	}
	v.Sender, v.Recipient = a.card, b.card
	v.Key = EpochKey{Epoch: 7, Secret: bytes.Repeat([]byte{3}, 32)}
	add := func(to *Card, e Envelope, content string) {
		sealed, err := v.Key.Seal(a, to, e, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		h := sealed.Hash()
		v.Cases = append(v.Cases, struct {
			Content  []byte   `json:"content"`
			Envelope Envelope `json:"envelope"`
			Hash     string   `json:"hash"`
		}{[]byte(content), sealed, hex.EncodeToString(h[:])})
	}
	add(nil, Envelope{Space: "spc_vector", Seq: 1, ID: "msg_1", Class: "message", At: 1700000000000}, `{"text":"to all"}`)
	add(&b.card, Envelope{Space: "spc_vector", Seq: 2, ID: "msg_2", Class: "message", At: 1700000000001,
		SeenSeq: 41, Seen: strings.Repeat("0a", 32)}, `{"text":"to one"}`)
	add(nil, Envelope{Space: "spc_vector", Seq: 3, ID: "env_3", Class: "task.add", At: 1700000000002,
		Clear: []byte(`{"task":"T-a1b2c3","priority":"high"}`)}, "")
	v.SpaceKey = bytes.Repeat([]byte{4}, 32)
	for _, n := range [][2]string{{"var", "datasource_uid"}, {"path", "cmd/main.go"}} {
		v.Tags = append(v.Tags, struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
			Tag  string `json:"tag"`
		}{n[0], n[1], v.SpaceKey.Tag(n[0], n[1])})
	}
	v.Phrase.In = bytes.Repeat([]byte{5}, 32)
	v.Phrase.Out = phrase(v.Phrase.In)
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(out, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
