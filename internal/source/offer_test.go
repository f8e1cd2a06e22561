package source

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/wire"
)

// desk is a connector that can be made to fail.
type desk struct {
	found map[string]string
	texts []string
	read  func(uri string) error
	asked int
}

func offering(b *bench) *desk {
	d := &desk{found: map[string]string{"desk": "first"}, texts: []string{"A turnip.", "A beetroot.", "A carrot."},
		read: func(string) error { return nil }}
	b.room.Connectors = Connectors{
		Found: func(context.Context) (map[string]string, error) { return d.found, nil },
		List: func(context.Context, string) (out []Resource, err error) {
			for i := range d.texts {
				out = append(out, Resource{URI: fmt.Sprintf("note://desk/%d.md", i)})
			}
			return out, nil
		},
		Read: func(_ context.Context, _, uri string) ([]byte, error) {
			d.asked++
			var i int
			if _, err := fmt.Sscanf(uri, "note://desk/%d.md", &i); err != nil {
				return nil, err
			}
			return []byte(d.texts[i]), d.read(uri)
		}}
	change(b, ann, b.room.add, wire.AddIn{Name: "notes", From: wire.From{Connector: "desk"}})
	change(b, ann, b.room.resume, wire.NameIn{Name: "notes"})
	b.imported(ann, "notes")
	d.asked = 0
	return d
}

// A connector that lists and then fails to read takes nothing away, and is not asked for every single document.
func TestAConnectorThatFailsToReadTakesNothingAway(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	d := offering(b)
	all := func(why string) {
		t.Helper()
		if n := len(b.finds(ann, "turnip")) + len(b.finds(ann, "beetroot")) + len(b.finds(ann, "carrot")); n != 3 {
			t.Fatalf("%s: %d of 3 are found", why, n)
		}
	}
	all("read")
	d.read = func(string) error {
		return fault.New(fault.Unavailable, "connector", "desk: it did not answer in time")
	}
	if _, err := b.room.bring(ann, wire.NameIn{Name: "notes"}); !fault.Is(err, fault.Unavailable) || d.asked != 1 {
		t.Errorf("asked %d times: %v", d.asked, err)
	}
	all("it does not answer")
	d.read = func(uri string) error {
		if strings.HasSuffix(uri, "0.md") {
			return &Refusal{Why: "too many requests"}
		}
		return nil
	}
	b.imported(ann, "notes")
	shown, err := b.room.show(ann, wire.NameIn{Name: "notes"})
	if err != nil || !strings.Contains(shown.Reason, "(1)") || shown.Bad != 0 {
		t.Errorf("%+v %v", shown, err)
	}
	all("it refuses one for now")
	d.read = func(string) error { return &Refusal{Gone: true, Why: "no such note"} }
	b.imported(ann, "notes")
	if n := len(b.finds(ann, "turnip")); n != 0 {
		t.Error("what it says that there is not is found")
	}
	d.texts, d.asked = make([]string, 100), 0
	d.read = func(string) error { return &Refusal{Why: "too many requests"} }
	if _, err := b.room.bring(ann, wire.NameIn{Name: "notes"}); !fault.Is(err, fault.Unavailable) || d.asked != maxRefused {
		t.Errorf("one that refuses all was asked %d times: %v", d.asked, err)
	}
}

// What a connector gave is found by who may use it, as long as it is the one that was bound.
func TestAConnectorsTextIsFoundByWhoMayUseIt(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	d := offering(b)
	sees := op.WithAllowed(as("t", "bob"), func(right string, _ op.Resource) bool { return right != "connector.call" })
	if n := len(b.finds(sees, "turnip")); n != 0 {
		t.Error("who may see it and not use it finds what it gave")
	}
	if n := len(b.finds(as("t", "eve"), "turnip")); n != 1 {
		t.Errorf("who may use it finds %d", n)
	}
	for why, found := range map[string]map[string]string{"not there": {}, "another connector": {"desk": "second"}} {
		d.found = found
		if n := len(b.finds(ann, "turnip")); n != 0 {
			t.Errorf("%s: %d are found", why, n)
		}
		list, err := b.room.list(ann, wire.ListIn{})
		if err != nil || len(list.Sources) != 1 || !strings.Contains(list.Sources[0].Reason, why) {
			t.Errorf("%s: %+v %v", why, list, err)
		}
		if _, err := b.room.bring(ann, wire.NameIn{Name: "notes"}); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", why, err)
		}
	}
	d.found = map[string]string{"desk": "first"}
	if n := len(b.finds(ann, "turnip")); n != 1 {
		t.Errorf("it is back: %d are found", n)
	}
}
