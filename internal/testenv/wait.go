package testenv

import (
	"testing"
	"time"
)

// Eventually waits for what happens elsewhere: in another process, or behind a real disk or socket. A test whose time is up
// ends, and says what it waited for.
func Eventually(t testing.TB, what string, most time.Duration, ok func() bool) {
	t.Helper()
	if !Within(most, ok) {
		t.Fatalf("never, in %s: %s", most, what)
	}
}

// Stays watches for so long that something stays as it is. A test ends at the first look at which it does not.
func Stays(t testing.TB, what string, most time.Duration, ok func() bool) {
	t.Helper()
	if Within(most, func() bool { return !ok() }) {
		t.Fatalf("not for %s: %s", most, what)
	}
}

// Within is Eventually for a test that has more to say when time is up: it reports whether ok said yes. It asks at once, then
// more and more rarely, since asking may cost a program.
func Within(most time.Duration, ok func() bool) bool {
	end := time.Now().Add(most)
	for pause := time.Millisecond; !ok(); pause = min(pause*3/2, 50*time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
