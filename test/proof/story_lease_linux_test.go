package proof

import (
	"strings"
	"testing"
	"time"
)

// One leases a file on one machine; an agent on another, who is in no space and
// has never heard of the lease, changes it. It used to go through, and the holder
// heard nothing.
func TestALeaseHoldsOnAnotherMachine(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	all := places(t, "vps", "one", "two")
	vps, one, two := all[0], all[1], all[2]
	line := joinLine.FindStringSubmatch(vps.must("tandem up --repo ~/project --listen 0.0.0.0:13013"))
	if line == nil {
		t.Fatal("no line for another machine")
	}
	one.must(line[1])
	vps.typed("tandem pin set")
	invited, err := vps.typed("tandem invite")
	second := joinLine.FindStringSubmatch(strings.ReplaceAll(invited, "\r", ""))
	if err != nil || second == nil {
		t.Fatalf("invite: %v\n%s", err, invited)
	}
	two.must(second[1] + " --workspace agent-b")
	one.must("cd project && mkdir src && echo 'fn auth() {}' >src/auth.rs && tandem commit -m 'the base'")
	two.must("cd project && tandem new default@-")

	if out := one.must("tandem repo lease src"); !strings.Contains(out, "src is leased to one (workspace default) until") {
		t.Errorf("lease: %s", out)
	}
	refusals := []struct{ line, want string }{
		{"tandem repo lease src/./auth.rs", "src is leased to one (workspace default)"},
		{"tandem repo release src", "you hold no lease on src: it is leased to one"},
		{"echo 'fn auth() { mine() }' >src/auth.rs && tandem commit -m 'theirs'", "src/auth.rs is leased to one (workspace default) until"},
	}
	for _, r := range refusals {
		if out, err := two.run(r.line); err == nil || !strings.Contains(out, r.want) {
			t.Errorf("%s: %v\n%s", r.line, err, out)
		}
	}
	hears := func(want string) {
		t.Helper()
		var out string
		for end := time.Now().Add(patience); time.Now().Before(end); {
			if out = one.must("tandem st"); strings.Contains(out, want) {
				return
			}
		}
		t.Errorf("the holder does not hear %q:\n%s", want, out)
	}
	hears("src/auth.rs, which you lease, is to be changed by two in the workspace agent-b: a person is asked")
	if out := one.must("tandem log"); strings.Contains(out, "theirs") {
		t.Errorf("it came through:\n%s", out)
	}
	if out, err := vps.typed("tandem approvals approve"); err != nil {
		t.Fatalf("approve: %v\n%s", err, out)
	}
	two.must("tandem st")
	hears("src/auth.rs, which you lease, was changed by two in the workspace agent-b with a person's approval")
	if out := one.must("tandem log"); !strings.Contains(out, "theirs") {
		t.Errorf("what a person let through did not come:\n%s", out)
	}

	// In a space the lease is the server's, too.
	one.must("tandem repo release src && tandem space create leases && tandem space reserve src/auth.rs")
	if out, err := two.run("echo x >src/auth.rs; tandem commit -m 'again'"); err == nil ||
		!strings.Contains(out, "src/auth.rs is leased to one") {
		t.Errorf("a lease that a space names: %v\n%s", err, out)
	}
	one.must("tandem space leave")
	two.must("tandem st")
	if out := two.must("tandem repo lease"); !strings.Contains(out, "nothing is leased") {
		t.Errorf("leaving gives it free:\n%s", out)
	}
}
