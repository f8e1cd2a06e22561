package diff

import "testing"

func TestUnified(t *testing.T) {
	before := []byte("a\nb\nc\nd\ne\nf\ng\nh\n")
	after := []byte("a\nb\nC\nd\ne\nf\ng\nh\ni\n")
	want := "@@ -2 +2 @@\n b\n-c\n+C\n d\n@@ -8 +8 @@\n h\n+i\n"
	if got := Unified(before, after, 1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Unified(before, before, 3); got != "" {
		t.Errorf("no difference reads %q", got)
	}
	if got := Unified(nil, []byte("x"), 3); got != "@@ -1 +1 @@\n+x\n" {
		t.Errorf("a new file reads %q", got)
	}
}
