package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

func TestOperationsAreGovernable(t *testing.T) {
	_, j := open(t)
	var table op.Table
	if err := table.Add(j.Ops()...); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"audit.export", "audit.forget"} {
		if o := table.Get(name); !o.Present || !o.People || o.ToolName() != "" {
			t.Errorf("%s is open to those who are not a person present", name)
		}
	}
}

// What an actor may not see does not exist for it, in lists and by number.
func TestEventsOfHiddenResourcesAreHidden(t *testing.T) {
	d, j := open(t)
	for i := range 30 {
		kind := []string{"resource", "secret", "board"}[i%3]
		add(t, d, j, Event{Resource: fmt.Sprintf("%s:/%d", kind, i)})
	}
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "ten_a", Actor: "act_1", Kind: op.Agent})
	ctx = op.WithMay(ctx, func(right string, r op.Resource) bool { return !strings.HasPrefix(right, "secret.") })
	out, err := j.log(ctx, LogIn{Limit: 15})
	if err != nil || len(out.Entries) != 15 || !out.More || out.Head != 30 {
		t.Fatalf("%d entries, more %v, head %d, %v", len(out.Entries), out.More, out.Head, err)
	}
	rest, err := j.log(ctx, LogIn{After: out.Entries[14].Seq})
	if err != nil || len(rest.Entries) != 5 || rest.More {
		t.Fatalf("%d entries behind, %v", len(rest.Entries), err)
	}
	back, err := j.log(ctx, LogIn{Newest: true, Before: 10, After: 4})
	if err != nil || len(back.Entries) != 3 || back.Entries[0].Seq != 9 {
		t.Fatalf("backwards: %+v, %v", back.Entries, err)
	}
	for _, e := range append(out.Entries, rest.Entries...) {
		if strings.HasPrefix(e.Resource, "secret:") {
			t.Errorf("entry %d about %s is shown", e.Seq, e.Resource)
		}
	}
	if _, err := j.show(ctx, SeqIn{2}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("show: %v", err)
	}
	if _, err := j.prove(ctx, SeqIn{2}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("prove: %v", err)
	}
	if r, err := j.prove(ctx, SeqIn{1}); err != nil || r.Entry.Seq != 1 {
		t.Errorf("prove: %v", err)
	}
}

func TestForgetNeedsATimeInThePast(t *testing.T) {
	d, j := open(t)
	for _, before := range []time.Time{{}, time.Now().Add(time.Hour)} {
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := j.forget(t.Context(), tx, ForgetIn{before})
			return err
		})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("forget before %v: %v", before, err)
		}
	}
}
