package relay

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

func TestWhatTheLeadMeans(t *testing.T) {
	for _, c := range []struct{ text, kind, rest string }{
		{"Run the tests.", "instruct", "Run the tests."},
		{"All green.\nRELAY_DONE", "done", "All green."},
		{"All green.\n**RELAY_DONE**", "done", "All green."},
		{"> `RELAY_DONE`", "done", ""},
		{"We are not at RELAY_DONE yet; run the tests.", "instruct", "We are not at RELAY_DONE yet; run the tests."},
		{"NEEDS_INPUT: Which colour?", "ask", "Which colour?"},
		{"- NEEDS_INPUT: Which colour?\nRELAY_DONE", "ask", "Which colour?"},
		{"BLOCKED: no network\nNEEDS_INPUT: x\nRELAY_DONE", "blocked", "no network"},
		{"**BLOCKED**\nthe disk is full", "blocked", "the disk is full"},
		{"The task is BLOCKED: by nothing", "instruct", "The task is BLOCKED: by nothing"},
	} {
		if v := Read(c.text); v.Kind != c.kind || v.Text != c.rest {
			t.Errorf("Read(%q) = %+v, want %s %q", c.text, v, c.kind, c.rest)
		}
	}
}

func TestARelayParksAnswersAndEnds(t *testing.T) {
	now := time.Unix(1000, 0)
	r := &Relay{Turns: 2, Budget: time.Hour, Park: time.Minute, Answer: time.Hour}
	r.begin("first", now)
	if _, err := r.enqueue("second", now); err != nil || len(r.Queue) != 1 {
		t.Fatal(r.Queue, err)
	}
	r.prepare(nil, now)
	if r.Turn != 1 || !strings.Contains(r.Prompt, "Turn 1 of 2") || !strings.Contains(r.Prompt, "first") {
		t.Fatalf("prompt %q", r.Prompt)
	}
	r.heard("do it", now)
	if r.Next != "worker" || !strings.Contains(r.Prompt, "do it") {
		t.Fatalf("%+v", r)
	}
	r.heard("did it", now)
	r.Injected = []string{"hurry"}
	r.prepare(nil, now)
	if !strings.Contains(r.Prompt, "did it") || !strings.Contains(r.Prompt, "hurry") || r.Injected != nil {
		t.Fatalf("prompt %q", r.Prompt)
	}
	r.heard("NEEDS_INPUT: how?", now)
	if r.Status != NeedsInput || r.Question != "how?" || !r.Deadline.Equal(now.Add(time.Hour)) {
		t.Fatalf("%+v", r)
	}
	if answer, err := r.enqueue("like this", now); !answer || err != nil || r.Status != Running || r.TaskNo != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	r.prepare(nil, now) // two turns are used up, so the next task begins
	if r.TaskNo != 2 || r.Task != "second" || r.Turn != 0 || len(r.Queue) != 0 {
		t.Fatalf("%+v", r)
	}
	r.prepare(nil, now)
	r.heard("fine\nRELAY_DONE", now)
	if r.Status != Parked || r.Summary != "fine" || !r.Deadline.Equal(now.Add(time.Minute)) {
		t.Fatalf("%+v", r)
	}
	if _, err := r.enqueue("third", now); err != nil || r.Status != Running || r.TaskNo != 3 {
		t.Fatalf("%+v %v", r, err)
	}
	for range MaxQueue {
		if _, err := r.enqueue("more", now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.enqueue("too much", now); !fault.Is(err, fault.Exhausted) {
		t.Errorf("a full queue: %v", err)
	}
	r.prepare(nil, now)
	r.heard("BLOCKED: no way", now)
	if _, err := r.enqueue("x", now); !r.Status.Over() || !fault.Is(err, fault.Conflict) {
		t.Errorf("%s: %v", r.Status, err)
	}
}

// A program whose relay is over, or never came about, is closed at the next start; a living relay's is left alone.
func TestOrphansAreClosedAtStart(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	closed := make(chan string, 8)
	r := New(d, nil, nil, new(op.Coming), slog.New(slog.DiscardHandler), t.TempDir(), Sessions{
		Close: func(_ context.Context, id string) error { closed <- id; return nil },
		Owned: func(context.Context) (map[string]string, error) {
			return map[string]string{"ses_never": "loop_never", "ses_over": "loop_over", "ses_alive": "loop_alive"}, nil
		}})
	now := time.Now()
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		if err := save(tx, &Relay{ID: "loop_over", Tenant: "local", Status: Stopped, Lead: "ses_over"}); err != nil {
			return err
		}
		return save(tx, &Relay{ID: "loop_alive", Tenant: "local", Status: Parked, Lead: "ses_alive", Deadline: now.Add(time.Hour)})
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	got := []string{<-closed, <-closed}
	slices.Sort(got)
	testenv.Eventually(t, "somebody looks at the living relay", time.Minute, r.Busy)
	cancel()
	if err := <-done; err != nil || len(closed) != 0 || strings.Join(got, " ") != "ses_never ses_over" {
		t.Errorf("closed %v and %d more, %v", got, len(closed), err)
	}
}

// A turn that a restart cut off is begun again with a note, and never with two.
func TestACutTurnGoesOn(t *testing.T) {
	now := time.Unix(1000, 0)
	r := &Relay{Turns: 5, Budget: time.Hour}
	r.begin("first", now)
	r.prepare(nil, now)
	prompt := r.Prompt
	for range 2 {
		r.Flight = "turn_1"
		r.again()
	}
	if r.Cut != 2 || r.Flight != "" || r.Prompt != cutNote+prompt || r.Next != "lead" {
		t.Errorf("%+v", r)
	}
	r.heard("do it", now)
	if r.Cut != 0 || r.Next != "worker" || strings.Contains(r.Prompt, cutNote) {
		t.Errorf("%+v", r)
	}
}
