package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// Whoever waits looks at the rows when there are new ones, and not otherwise.
func TestMovesSayWhenToLook(t *testing.T) {
	r := &Room{}
	r.hub = newHub(r)
	m := r.Moves("t", "s")
	if !m.New() || m.New() {
		t.Error("the first look is due, and no second one before something happened")
	}
	next := m.Next()
	r.hub.advance("t", "other", 4)
	select {
	case <-next:
		t.Error("another session woke it")
	default:
	}
	r.hub.advance("t", "s", 5)
	<-next
	if !m.New() || m.New() {
		t.Error("one look for one change")
	}
	next = m.Next()
	r.hub.open("t", "s", 5)
	<-next
	next = m.Next()
	r.hub.add("t", "s", "a text that grows")
	<-next
	if m.New() {
		t.Error("a growing text is no new row")
	}
	next = m.Next()
	r.Stir()
	select {
	case <-next:
	default:
		t.Error("an answer that another server wrote while a text grew here woke nobody")
	}
	if !m.New() {
		t.Error("while a text grows here another server may have written rows")
	}
	r.hub.close("t", "s")
	r.Stir()
	if !m.New() {
		t.Error("another server may have written")
	}
	if m.Close(); len(r.hub.live) > 0 {
		t.Error("a session to which nobody listens is kept")
	}
}

// What happens between the look and the wait is not missed.
func TestMovesMissNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Room{}
		r.hub = newHub(r)
		var rows, looks int
		go func() {
			for range 50 {
				time.Sleep(time.Millisecond)
				r.hub.mu.Lock()
				rows++
				r.hub.mu.Unlock()
				r.hub.advance("t", "s", int64(rows))
			}
		}()
		m := r.Moves("t", "s")
		defer m.Close()
		for seen := 0; seen < 50; {
			next := m.Next()
			if m.New() {
				r.hub.mu.Lock()
				seen = rows
				r.hub.mu.Unlock()
				looks++
			}
			if seen < 50 {
				time.Sleep(700 * time.Microsecond) // the look takes its time
				<-next
			}
		}
		if looks > 51 {
			t.Errorf("%d looks for 50 changes", looks)
		}
	})
}
