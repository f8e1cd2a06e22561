package proof

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// Two agents on two machines, without any configuration: a plain log shows
// everybody's commits and where everybody is, commits carry who made them, what I
// made stays mine to change when another builds on it, and undo takes back what I
// did. Others' work used to be missing from the log (it was taken for immutable),
// and a commit under another's feet was frozen.
func TestTwoAgentsOnTwoMachines(t *testing.T) {
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
	one.must("cd project")
	two.must("cd project")

	one.must("echo 'pub fn auth() {}' > auth.rs")
	if out := one.must(`tandem commit -m "feat: add auth module"`); strings.Contains(out, "arning") {
		t.Errorf("nothing is wrong, and it warns:\n%s", out)
	}
	if out := two.must("tandem log"); !strings.Contains(out, "feat: add auth module") || !strings.Contains(out, "default@") ||
		!strings.Contains(out, "agent-b@") && !strings.Contains(out, "@  ") {
		t.Errorf("a plain log hides what others do:\n%s", out)
	}
	if out := one.must(`tandem log -r @- --no-graph -T 'author ++ "\n"'`); strings.TrimSpace(out) != "one <one@10.99.2.1>" {
		t.Errorf("the author is %q", out)
	}
	two.must("tandem new default@- -m 'on top of it'")
	one.must(`tandem describe -r @- -m "feat: add auth, better"`)
	one.must("echo more >> auth.rs && tandem squash")
	if out := two.must("tandem log"); !strings.Contains(out, "feat: add auth, better") || !strings.Contains(out, "on top of it") {
		t.Errorf("what stands on it did not move along:\n%s", out)
	}
	if out := two.must("cat auth.rs"); !strings.Contains(out, "more") {
		t.Errorf("the files did not follow: %q", out)
	}

	// Another's working copy is the server's to guard, with a name to it.
	out, err := two.run("tandem describe default@ -m 'not mine'")
	if err == nil || !strings.Contains(out, `"default"`) || !strings.Contains(out, "one") {
		t.Errorf("another's working copy: %v\n%s", err, out)
	}
	two.must("tandem undo")

	// Undo takes back what this workspace did, whatever options stand beside it,
	// and on the server's own folder, too.
	one.must("tandem describe -m 'mine'")
	two.must("tandem describe -m 'theirs'")
	one.must("tandem undo --quiet")
	if out := vps.must("tandem repo workspaces project"); !strings.Contains(out, "theirs") || strings.Contains(out, "mine") {
		t.Errorf("undo took back another's:\n%s", out)
	}
	vps.must("cd project && jj describe -m 'the server itself'")
	two.must("tandem describe -m 'theirs again'")
	vps.must("tandem undo")
	var listed string
	for end := time.Now().Add(20 * time.Second); ; { // the server takes in what happened in its own folder a moment later
		listed = vps.must("tandem repo workspaces project")
		if !strings.Contains(listed, "the server itself") || time.Now().After(end) {
			break
		}
	}
	if !strings.Contains(listed, "theirs again") || strings.Contains(listed, "the server itself") {
		t.Errorf("undo on the server took back another's, or not its own:\n%s", listed)
	}

	// The server goes away: everything is saved, and nothing is a failure.
	vps.must("tandem init --tandem-server=127.0.0.1:13013 ~/own && tandem down && cd ~/own && echo x >x")
	for _, p := range []*place{vps, one} {
		if out := p.must("tandem commit -m 'while it is away'"); !strings.Contains(out, "saved here") {
			t.Errorf("%s: it does not say what happens to it:\n%s", p.name, out)
		}
	}
	vps.must("tandem up --repo ~/project --listen 0.0.0.0:13013")
	for _, p := range []*place{vps, one} {
		if out := p.must("tandem st"); strings.Contains(out, "to be sent") {
			t.Errorf("%s: it did not go out:\n%s", p.name, out)
		}
	}
	if n := len(regexp.MustCompile("while it is away").FindAllString(two.must("tandem log"), -1)); n != 2 {
		t.Errorf("%d of two arrived", n)
	}
}

// A server that moved is told to its workspaces in one line, and a daemon with a
// socket of its own is found by its folder.
func TestTheServerMoved(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	all := places(t, "vps", "one")
	vps, one := all[0], all[1]
	line := joinLine.FindStringSubmatch(vps.must("mkdir -m 700 run && tandem up --repo ~/project --listen 0.0.0.0:13013 " +
		"--control-socket ~/run/x.sock"))
	if line == nil {
		t.Fatal("no line for another machine")
	}
	if out := vps.must("tandem status"); !strings.Contains(out, "tandem is running") {
		t.Errorf("its own folder does not find it:\n%s", out)
	}
	vps.must("tandem init --tandem-server=127.0.0.1:13013 ~/own")
	one.must(line[1] + " && cd project")
	vps.must("tandem down && tandem up --repo ~/project --listen 0.0.0.0:14014")
	if out := one.must("tandem commit -m 'it moved'"); !strings.Contains(out, "saved here") {
		t.Errorf("the old address: %s", out)
	}
	one.must("tandem remote set vps:14014")
	if out := one.must("tandem st"); strings.Contains(out, "to be sent") {
		t.Errorf("it did not go out:\n%s", out)
	}
	if out := one.must("tandem remote"); !strings.Contains(out, "vps:14014") {
		t.Errorf("tandem remote says:\n%s", out)
	}
	if out := vps.must("tandem repo workspaces project"); !strings.Contains(out, "one") {
		t.Errorf("the server knows:\n%s", out)
	}
	if out, err := one.run("tandem remote set vps:1"); err == nil {
		t.Errorf("an address where nobody is was taken:\n%s", out)
	}
	if out := one.must("tandem remote"); !strings.Contains(out, "vps:14014") {
		t.Errorf("a refused address was kept:\n%s", out)
	}
}

// A repository that takes long to open is on its way, not absent: up says what it
// does, status says that it is starting. A slow disk is a pipe that nobody fills.
func TestAServerThatIsStillOpening(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	vps := places(t, "vps")[0]
	vps.must(`mkdir big && cd big && git init -q && git -c user.name=P -c user.email=p@example.com commit -q --allow-empty -m first && git ` +
		`pack-refs --all && mv .git/packed-refs ../refs && mkfifo .git/packed-refs`)
	vps.must(`cd; { tandem up --repo ~/big --listen 127.0.0.1:13013 >up.out 2>&1; echo ended $? >>up.out; } </dev/null >/dev/null 2>&1 &`)
	out := vps.must(`for i in $(seq 300); do tandem status >st.out 2>&1; grep -q repository st.out && break; sleep 0.1; done; cat st.out`)
	if !strings.Contains(out, "tandem is starting") || !strings.Contains(out, "big") {
		t.Errorf("while it opens, status says:\n%s", out)
	}
	if out, err := vps.run("tandem up"); err == nil || !strings.Contains(out, "starting") {
		t.Errorf("a second up: %v\n%s", err, out)
	}
	vps.must(`for i in $(seq 100); do grep -q 'opening the repository' up.out && break; sleep 0.1; done; exec 3>big/.git/packed-refs; ` +
		`rm big/.git/packed-refs; cp refs big/.git/packed-refs; cat refs >&3; exec 3>&-`)
	out = vps.must(`for i in $(seq 300); do grep -q ended up.out && break; sleep 0.1; done; cat up.out`)
	if !strings.Contains(out, "ended 0") || !strings.Contains(out, "opening the repository") {
		t.Errorf("up said:\n%s", out)
	}
}
