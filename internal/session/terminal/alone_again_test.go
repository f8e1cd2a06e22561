package terminal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Of those who start a session again at the same time one does, and the others wait for that, each as long as it likes.
func TestOneStartsASessionAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Driver{}
		over, err := d.alone(t.Context(), "ses_a")
		if err != nil {
			t.Fatal(err)
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		if _, err := d.alone(left, "ses_a"); !errors.Is(err, context.Canceled) {
			t.Errorf("whoever left: %v", err)
		}
		if other, err := d.alone(t.Context(), "ses_b"); err != nil {
			t.Errorf("another session: %v", err)
		} else {
			other()
		}
		now, most, done := 0, 0, 0
		for range 3 {
			go func() {
				over, err := d.alone(t.Context(), "ses_a")
				if err != nil {
					t.Error(err)
					return
				}
				now++
				most = max(most, now)
				time.Sleep(time.Second) // of this test's own clock
				now--
				done++
				over()
			}()
		}
		synctest.Wait()
		if most != 0 {
			t.Error("somebody did not wait")
		}
		over()
		time.Sleep(time.Minute)
		if most != 1 || done != 3 || len(d.begins) != 0 {
			t.Errorf("%d at once, %d of them, %d left", most, done, len(d.begins))
		}
	})
}
