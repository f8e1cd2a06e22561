package proof

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

var joinLine = regexp.MustCompile(`(?m)^ *(tandem init --tandem-server=\S+ \S+)$`)

// The line that a server prints for other machines works there as it stands: the
// server is known by its key, so no name had to be announced. It used to answer
// that it did not go by that name, by name and by address, unless it was started
// with --hosts.
func TestThePrintedLineWorksOnAnotherMachine(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	all := places(t, "vps", "laptop", "desk")
	vps, laptop, desk := all[0], all[1], all[2]
	vps.must("mkdir project && cd project && git init -q && echo one >f && git add f && git -c user.name=P -c user.email=p@example.com " +
		"commit -qm first && cd ..")
	said := vps.must("tandem up --repo ~/project --listen 0.0.0.0:13013")
	line := joinLine.FindStringSubmatch(said)
	if line == nil {
		t.Fatalf("no line for another machine in:\n%s", said)
	}
	if strings.Contains(line[1], "0.0.0.0") || strings.Contains(line[1], "[::]") {
		t.Errorf("nobody reaches %s", line[1])
	}
	laptop.must(line[1])
	laptop.must("cd project && cat f")
	laptop.must("echo from the laptop >g && tandem commit -m 'from the laptop'")
	if out := vps.must("tandem status"); !strings.Contains(out, "Listen: 0.0.0.0:13013") {
		t.Errorf("it listens on more than was said:\n%s", out)
	}
	if out, err := vps.run("cat /proc/net/tcp6 | grep -i ':32D5 .* 0A'"); err == nil { // 13013, listening
		t.Errorf("0.0.0.0 also opened IPv6:\n%s", out)
	}

	// By the server's name, and by its address: the same key, so the same machine, and nobody is asked again.
	for i, server := range []string{"vps:13013", "10.99.2.1:13013"} {
		dir := "~/again" + string(rune('a'+i))
		laptop.must("tandem init --tandem-server=" + server + " " + dir)
	}
	vps.typed("tandem pin set")
	invited, err := vps.typed("tandem invite --json")
	if err != nil {
		t.Fatalf("invite: %v\n%s", err, invited)
	}
	var invite struct{ Join string }
	if err := json.Unmarshal([]byte(invited[strings.Index(invited, "{"):]), &invite); err != nil || invite.Join == "" {
		t.Fatalf("invite --json has no line: %v\n%s", err, invited)
	}
	byName := strings.Replace(invite.Join, "10.99.2.1:", "vps:", 1)
	if byName == invite.Join {
		t.Fatalf("%s is not by address", invite.Join)
	}
	desk.must(byName)
	if out := vps.must("tandem repo workspaces project"); strings.Count(out, "laptop") < 3 || !strings.Contains(out, "desk") {
		t.Errorf("the server knows:\n%s", out)
	}
	if out := vps.must("tandem repo workspaces project"); !regexp.MustCompile(`(?m)^default  laptop`).MatchString(out) {
		t.Errorf("the first who came is not in default:\n%s", out)
	}

	// The server's own machine by its own name: it is itself, and needs no invitation.
	vps.must("tandem init --tandem-server=vps:13013 ~/own")
}

// On the server's own machine another person reaches it by 127.0.0.1, though it
// speaks TLS there.
func TestAnotherHomeOnTheSameMachine(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	vps := places(t, "vps")[0]
	said := vps.must("tandem up --json --repo ~/project --listen 0.0.0.0:13013 2>progress")
	var up struct{ Join string }
	if err := json.Unmarshal([]byte(said), &up); err != nil || up.Join == "" {
		t.Fatalf("up --json has no line: %v\n%s", err, said)
	}
	other := vps.at(testenv.Dir(t))
	other.must(strings.Replace(up.Join, "10.99.2.1:", "127.0.0.1:", 1))
	other.must("cd project && echo x >x && tandem new -m there && tandem st")
	if out := other.must("cat ~/.tandem/known_servers"); !strings.Contains(out, "127.0.0.1:13013 SHA256:") {
		t.Errorf("the key is not remembered: %s", out)
	}
}

// A server in the foreground prints the line, too: that is what a container has.
func TestServePrintsTheLine(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	all := places(t, "box", "agent")
	box, agent := all[0], all[1]
	box.must("(tandem serve --listen 0.0.0.0:13013 --repo ~/project >out 2>log &)")
	out := box.must(`for i in $(seq 200); do grep -q 'tandem init' out && break; sleep 0.1; done; cat out`)
	line := joinLine.FindStringSubmatch(out)
	if line == nil {
		t.Fatalf("no line in %q", out)
	}
	if log := box.must("cat log ~/.tandem/tandem.log"); strings.Contains(log, "tdj_") {
		t.Errorf("the invitation is in the log:\n%s", log)
	}
	agent.must(line[1])
}

// Whoever is asked to let a newcomer in sees where it asks from and the key of
// the request, and the newcomer sees the same key and the server's.
func TestTheNewcomersAskShowsAddressAndKey(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	all := places(t, "vps", "laptop")
	vps, laptop := all[0], all[1]
	vps.must("tandem up --repo ~/project --listen 0.0.0.0:13013")
	key := strings.TrimSpace(vps.must("tandem status | sed -n 's/^Fingerprint: //p'"))
	said := laptop.must("tandem init --tandem-server=vps:13013 work </dev/null >said 2>&1 & for i in $(seq 300); " +
		"do grep -q interrupt said && break; sleep 0.1; done; kill $!; cat said")
	request := regexp.MustCompile(`request: (\S+),`).FindStringSubmatch(said)
	if request == nil || !strings.Contains(said, "vps:13013 "+key) {
		t.Fatalf("the newcomer sees:\n%s", said)
	}
	if ask := vps.must("tandem approvals --json"); !strings.Contains(ask, laptop.addr) || !strings.Contains(ask, request[1]) {
		t.Errorf("the person who decides sees no %s %s:\n%s", laptop.addr, request[1], ask)
	}
}
