package job

import (
	"bytes"
	"strings"
	"testing"

	"tandem/internal/job/wire"
)

// A red check's output was shown only when it was the very last: behind it comes the one with the base's copies, which may be green.
func TestTheOutputOfARedCheckIsShown(t *testing.T) {
	j := &wire.Job{ID: "job_1", State: wire.Stopped, Reason: "red", Evidence: []wire.Evidence{
		{N: 1, Commit: "aaa", Verdict: wire.Red, Output: "long ago\n"},
		{N: 2, Commit: "bbb", Verdict: wire.Red, Output: "an earlier try\n"},
		{N: 3, Commit: "bbb", Verdict: wire.Red, Output: "login_test.go:42: two redirects\n"},
		{N: 4, Commit: "bbb", Verdict: wire.Green, Copies: "base", Output: "fine\n"}}}
	var out bytes.Buffer
	show(&out, j)
	if !strings.Contains(out.String(), "login_test.go:42") {
		t.Errorf("it does not say why: %s", out.String())
	}
	for _, old := range []string{"long ago", "an earlier try", "fine"} {
		if strings.Contains(out.String(), old) {
			t.Errorf("it says %q: %s", old, out.String())
		}
	}
}
