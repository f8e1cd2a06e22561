package repo

import (
	"strings"
	"testing"
)

func TestBar(t *testing.T) {
	var out strings.Builder
	b := &bar{to: &out}
	b.step(0, 0)
	b.step(50, 200)
	b.step(201, 200)
	b.end()
	want := "\rfetching [" + strings.Repeat("#", 7) + strings.Repeat(".", 23) + "]  25 %  50 of about 200 objects" +
		"\rfetching [" + strings.Repeat("#", 30) + "] 100 %  201 of about 200 objects\n"
	if out.String() != want {
		t.Errorf("it shows %q, want %q", out.String(), want)
	}
	(&bar{}).step(1, 2) // nobody is looking
}
