package journal

import (
	"fmt"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

func seqs(out LogOut) string {
	var all []int64
	for _, e := range out.Entries {
		all = append(all, e.Seq)
	}
	return fmt.Sprint(all)
}

func TestWordsAndTimesNarrowTheLog(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		ctx := op.WithMay(op.WithCaller(t.Context(), op.Caller{Tenant: "ten_a", Actor: "act_1", Kind: op.Person}),
			func(string, op.Resource) bool { return true })
		var last time.Time
		for i, text := range []string{"Deploy the site", "nothing", "deploy the rest"} {
			seq := add(t, d, j, Event{Payload: fmt.Appendf(nil, `{"text":%q}`, text), Actor: []string{"ann", "bob", "bob"}[i]})
			e, err := j.Get(ctx, "ten_a", seq)
			if err != nil {
				t.Fatal(err)
			}
			if last = e.Time; i < 2 {
				testenv.Eventually(t, "a later moment", time.Minute, func() bool { return time.Since(last) > time.Millisecond })
			}
		}
		for want, in := range map[string]LogIn{
			"[1 3]": {Text: "deploy THE"}, "[3]": {Text: "deploy bob"}, "[3 1]": {Text: "deploy", Newest: true}, "[]": {Text: "deploy nothing"},
			"[2 3]": {Actor: "bob"}, "[3 2 1]": {Since: time.Unix(0, 0), Newest: true},
		} {
			if out, err := j.log(ctx, in); err != nil || seqs(out) != want || out.More {
				t.Errorf("%+v: %s, more %t, %v; want %s", in, seqs(out), out.More, err, want)
			}
		}
		if out, err := j.log(ctx, LogIn{Since: last}); err != nil || seqs(out) != "[3]" {
			t.Errorf("since the last one: %s %v", seqs(out), err)
		}
		if out, err := j.log(ctx, LogIn{Since: last.Add(time.Hour), Newest: true}); err != nil || seqs(out) != "[]" {
			t.Errorf("since the future: %s %v", seqs(out), err)
		}
		out, err := j.log(ctx, LogIn{Text: "deploy", Limit: 1, Newest: true})
		if err != nil || seqs(out) != "[3]" || !out.More {
			t.Fatalf("first page: %s, more %t, %v", seqs(out), out.More, err)
		}
		if out, err = j.log(ctx, LogIn{Text: "deploy", Limit: 1, Newest: true, Before: out.At}); err != nil || seqs(out) != "[1]" || out.More {
			t.Errorf("second page: %s, more %t, %v", seqs(out), out.More, err)
		}
	})
}
