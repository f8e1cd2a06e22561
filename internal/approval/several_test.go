package approval

import (
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// One answer is for several asks only if each was looked at whole: its own digest, and that of every one of its pages. Where one was not,
// none is answered.
func TestSeveralAreEachLookedAt(t *testing.T) {
	exam(t, func(b *bench) {
		long, _ := b.file(edit(agent("builder"), strings.Repeat("A", 40<<10)+"; touch PWNED"))
		short, _ := b.file(edit(agent("builder"), "one"))
		looked := func(a *Ask) Looked { return Looked{ID: a.ID, Digest: a.Digest, Pages: a.PageDigests()} }
		several := func(asks ...Looked) (out SeveralOut, err error) {
			in := SeveralIn{Verdict: Approve, Asks: asks}
			if err := in.Check(); err != nil {
				return out, err
			}
			err = b.db.Write(t.Context(), func(tx *db.Tx) (err error) { out, err = b.several(as(t.Context(), person("ann")), tx, in); return err })
			return out, err
		}
		pages := long.PageDigests()
		if len(pages) < 3 {
			t.Fatalf("%d pages", len(pages))
		}
		for name, second := range map[string]Looked{
			"nothing of the second":      {ID: long.ID},
			"the digest of its call":     {ID: long.ID, Digest: long.Digest},
			"its first page":             {ID: long.ID, Digest: long.Digest, Pages: pages[:1]},
			"all but its last page":      {ID: long.ID, Digest: long.Digest, Pages: pages[:len(pages)-1]},
			"the pages of the first one": {ID: long.ID, Digest: long.Digest, Pages: short.PageDigests()},
			"another call's digest":      {ID: long.ID, Digest: short.Digest, Pages: pages},
		} {
			if _, err := several(looked(short), second); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Conflict) {
				t.Errorf("after a look at %s: %v", name, err)
			}
			if waits := b.inbox(person("ann"), string(Pending)); len(waits) != 2 {
				t.Fatalf("after a look at %s %d wait", name, len(waits))
			}
		}
		if _, err := several(); !fault.Is(err, fault.Invalid) {
			t.Errorf("none: %v", err)
		}
		if _, err := several(make([]Looked, MaxSeveral+1)...); !fault.Is(err, fault.Invalid) {
			t.Errorf("more than anybody looks at: %v", err)
		}
		out, err := several(looked(short), looked(long))
		if err != nil || len(out.Asks) != 2 || out.Asks[0].State != Approved || out.Asks[1].State != Approved {
			t.Errorf("both looked at whole: %+v %v", out, err)
		}
	})
}
