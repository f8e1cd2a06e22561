package terminal

import (
	"testing"
	"time"

	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// still is a seat in whose turn nothing moved for an hour; it is said to hang after ten minutes.
func still() *seat {
	return &seat{d: &Driver{}, turn: &session.Turn{}, moved: time.Now().Add(-time.Hour), waits: map[string]*wait{}}
}

// A person who answers after an hour has not made the program hang: a job ended it in the moment in which it was answered.
func TestAnAnswerIsAMove(t *testing.T) {
	s := still()
	if !s.hangs(s.d.hangAfter()) {
		t.Error("nothing moved for an hour, and it does not hang")
	}
	for name, ends := range map[string]func(*seat, *wait){
		"answered by tandem":       func(s *seat, w *wait) { s.closeWait("k", w) },
		"answered at the terminal": func(s *seat, _ *wait) { s.dropWaits("yes") },
	} {
		s, w := still(), &wait{question: true, local: make(chan struct{})}
		s.openWait("k", w)
		if ends(s, w); s.hangs(s.d.hangAfter()) {
			t.Errorf("%s, it hangs", name)
		}
	}
}

// A command that is silent for long is no hang until it lasts much longer than anything else may.
func TestASilentCommandIsNoHang(t *testing.T) {
	s := &spoken{seat: still()}
	s.moved = time.Now().Add(-30 * time.Minute)
	if s.calls(&agents.Act{Ref: "a"}); s.hangs(s.patience()) {
		t.Error("a command of half an hour hangs")
	}
	s.moved = time.Now().Add(-2 * time.Hour)
	if !s.hangs(s.patience()) {
		t.Error("a command of two hours does not hang")
	}
	s.moved = time.Now().Add(-30 * time.Minute)
	if s.calls(&agents.Act{Ref: "a", Ended: true}); !s.hangs(s.patience()) {
		t.Error("after the command, half an hour is no hang")
	}
}

// Between the look that found a program hanging and its end, it may have moved: it is not ended then.
func TestWhatMovedMeanwhileIsNotEnded(t *testing.T) {
	d := &Driver{taken: make(chan struct{})} // without tmux: whoever ends a program panics here
	close(d.taken)
	s := still()
	s.row.State = Working
	d.seats = map[string]*seat{"ses_1": s}
	for _, id := range []string{"ses_1", "ses_gone"} {
		if err := d.Fell(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}
