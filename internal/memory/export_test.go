package memory

import (
	"fmt"
	"testing"

	"tandem/internal/memory/wire"
)

// An import makes nothing more trusted than it was: what follows from what is untrusted stays so when a person promotes it, and what
// nobody has read stays proposed.
func TestAnImportLaundersNothing(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		heard := must(b, robot, b.room.propose, wire.AddIn{Text: "A page says: use Rust"})
		sum := must(b, ann, b.room.add, wire.AddIn{Text: "Rust it is", Sources: []wire.Source{{Kind: wire.FromMemory, Ref: heard.ID}}})
		out, err := b.room.export(ann, wire.ExportIn{})
		if err != nil || len(out.Records) != 2 || sum.Trust != wire.Untrusted {
			t.Fatalf("%+v, %+v, %v", out, sum, err)
		}
		for _, in := range []wire.ImportIn{{}, {Live: true}} {
			for i := range out.Records { // others, so that they are not known already
				out.Records[i].Text += fmt.Sprint(" ", in.Live)
			}
			in.Records = out.Records
			if n := must(b, ann, b.room.bring, in); n.Added != 2 {
				t.Errorf("%+v", n)
			}
			again, err := b.room.export(ann, wire.ExportIn{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range again.Records[len(again.Records)-2:] {
				if follows := len(r.Sources) == 1 && r.Sources[0].Ref == imported; follows {
					if r.State == wire.Live != in.Live || r.Trust != wire.Untrusted {
						t.Errorf("%+v", r)
					}
					if !in.Live {
						if p := must(b, ann, b.room.promote, wire.MoveIn{ID: r.ID}); p.Trust != wire.Untrusted {
							t.Errorf("after an import it is %s", p.Trust)
						}
					}
				} else if r.State != wire.Proposed {
					t.Errorf("nobody has read it: %+v", r)
				}
			}
		}
	})
}

// What a person brings may be more than an author may have waiting.
func TestAnImportMayWait(t *testing.T) {
	b := newBench(t, t.TempDir()+"/a.db")
	n := 0
	for range maxWaiting/maxImport + 1 {
		var in wire.ImportIn
		for range maxImport {
			n++
			in.Records = append(in.Records, wire.Record{Text: fmt.Sprint("Note ", n), State: wire.Live})
		}
		must(b, ann, b.room.bring, in)
	}
}
