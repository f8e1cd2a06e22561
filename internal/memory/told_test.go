package memory

import (
	"context"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// How often a record was of use was never counted, and one conversation was told the same again and again.
func TestAConversationIsToldThingsOnce(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		id := must(b, ann, b.room.add, wire.AddIn{Text: "Releases are cut on Tuesdays", Kind: wire.Decision}).ID
		brief := func(in wire.BriefIn) wire.BriefOut {
			t.Helper()
			out, err := b.room.brief(robot, in)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		uses := func(want int64) {
			t.Helper()
			if rec, err := b.room.show(ann, wire.IDIn{ID: id}); err != nil || rec.Uses != want {
				t.Errorf("it was of use %d times, want %d: %v", rec.Uses, want, err)
			}
		}
		if out := brief(wire.BriefIn{Look: true}); len(out.IDs) != 1 {
			t.Errorf("looked at: %+v", out)
		}
		uses(0)
		if out := brief(wire.BriefIn{}); len(out.IDs) != 1 || out.Told != 0 {
			t.Errorf("first: %+v", out)
		}
		uses(1)
		if out := brief(wire.BriefIn{}); len(out.IDs) != 0 || out.Text != "" || out.Told != 1 {
			t.Errorf("second: %+v", out)
		}
		if out := brief(wire.BriefIn{Again: true}); len(out.IDs) != 1 {
			t.Errorf("asked for again: %+v", out)
		}
		is(t, "a search finds it all the same", b.found(robot, "releases"), "Releases are cut on Tuesdays")
		uses(1)
		is(t, "another session", b.found(caller(op.Session, "ses_two"), "releases"), "Releases are cut on Tuesdays")
		is(t, "a person", b.found(ann, "releases"), "Releases are cut on Tuesdays")
		uses(2)
		out := must(b, ann, b.room.forget, wire.IDIn{ID: id})
		is(t, "told to", out.Told, "ses_robot", "ses_two")
		if names := strings.Contains(strings.Join(out.Beyond, " "), "PostgreSQL"); names != (b.db.Path() == "") {
			t.Errorf("beyond reach: %q", out.Beyond)
		}
	})
}

// What has expired was neither found nor told, but read by its id.
func TestTheExpiredIsNotRead(t *testing.T) {
	ahead := time.Duration(0)
	b := newBenchAt(t, t.TempDir()+"/a.db", func() time.Time { return time.Now().Add(ahead) })
	id := must(b, ann, b.room.add, wire.AddIn{Text: "The door code is 4711", Days: 1}).ID
	for _, who := range []struct {
		name string
		ctx  context.Context
	}{{"a person", ann}, {"a session", robot}} {
		ahead = 0
		if _, err := b.room.show(who.ctx, wire.IDIn{ID: id}); err != nil {
			t.Errorf("before, %s: %v", who.name, err)
		}
		ahead = 25 * time.Hour
		if rec, err := b.room.show(who.ctx, wire.IDIn{ID: id}); !fault.Is(err, fault.NotFound) || rec.Text != "" {
			t.Errorf("expired, %s reads %q, %v", who.name, rec.Text, err)
		}
	}
	if out, err := b.room.history(ann, wire.IDIn{ID: id}); !fault.Is(err, fault.NotFound) || len(out.Versions) > 0 {
		t.Errorf("expired, its history is %+v, %v", out, err)
	}
	if _, err := change(b, ann, b.room.promote, wire.MoveIn{ID: id}); !fault.Is(err, fault.Conflict) {
		t.Errorf("expired, it is promoted: %v", err)
	}
	must(b, ann, b.room.forget, wire.IDIn{ID: id})
}
