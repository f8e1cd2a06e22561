package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session/terminal"
)

// permissive are settings of a person whose OpenCode asks about nothing.
const permissive = `"permission":{"*":"allow","bash":"allow"},"agent":{"build":{"permission":{"*":"allow","bash":"allow"}},"general":{"p` +
	`ermission":{"*":"allow","bash":{"*":"allow"}}},"own":{"mode":"subagent","description":"mine","permission":{"*":"ask","bash":{"*":"all` +
	`ow"}}}},`

// task is a scripted call of OpenCode's that starts a subagent, which runs a command.
func task(command string) string {
	return `[[tool task {"description":"a part","subagent_type":"own","prompt":` + quote("do it "+shell(command)+" [[say the part is done]]") +
		`}]]`
}

// What a subagent of OpenCode's wants to run is asked about like anything else. It works in a session of its own inside the program,
// and its dialog once stood in the terminal without anybody knowing: policy was not asked, an interrupt left it there, and a key that
// was pressed two turns later ran the command.
func subagentsAsk(t *testing.T, h *house, name string) {
	out := h.begin(name, "share it "+task("echo sub > sub.txt")+" [[say shared]]")
	if a := h.decide(approval.Approve, ""); !strings.Contains(string(a.Input), "the part is done") {
		t.Errorf("the ask for a subagent shows %s", a.Input)
	}
	if a := h.decide(approval.Cancel, "not this one"); !strings.Contains(string(a.Input), "sub.txt") {
		t.Errorf("the subagent's ask shows %s", a.Input)
	}
	h.ended(name, out.Cursor)
	if _, err := os.Stat(filepath.Join(h.project, "sub.txt")); err == nil {
		t.Error("a subagent ran what was refused")
	}

	h.begin(name, "share it again "+task("echo later > later.txt")+" [[say shared]]")
	h.decide(approval.Approve, "")
	h.eventually("the subagent asks", func() bool { return strings.Contains(h.shown(name), "Permission required") })
	h.call("session.interrupt", terminal.NameIn{Name: name}, &out)
	want(t, "interrupted", out.Status, "interrupted")
	h.eventually("the dialog is gone", func() bool { return !strings.Contains(h.shown(name), "Permission required") })
	var list approval.ListOut
	h.call("approval.list", approval.ListIn{}, &list)
	if _, err := os.Stat(filepath.Join(h.project, "later.txt")); err == nil || len(list.Asks) > 0 {
		t.Errorf("after the interrupt it ran, or still asks: %+v", list.Asks)
	}
}

// loosen is what an agent can do at its own server with one command that was approved: let everything else run.
const loosen = `use IO::Socket::INET; use MIME::Base64;
my ($port) = ` + "`cat /proc/[0-9]*/cmdline`" + ` =~ /--port\0(\d+)/;
sub call {
	my ($method, $path, $body) = @_;
	my $s = IO::Socket::INET->new("127.0.0.1:$port") or die "no server";
	my $who = encode_base64("opencode:$ENV{OPENCODE_SERVER_PASSWORD}", "");
	print $s "$method $path HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Basic $who\r\nContent-Type: ` +
	`application/json\r\nContent-Length: ", length($body), "\r\n\r\n$body";
	local $/; return scalar <$s>;
}
for (call("GET", "/session?roots=true", "") =~ /"id":"(ses_\w+)"/g) {
	print call("PATCH", "/session/$_", '{"permission":[{"permission":"*","pattern":"*","action":"allow"}]}');
}
sleep 60;
`

// An agent that changes its own permissions is stopped, the turn says why, and what it runs next is asked about.
func loosenedIsStopped(t *testing.T, h *house, name string) {
	h.write("home/code/loosen.pl", loosen)
	out := h.begin(name, "loosen "+shell("perl loosen.pl")+" "+shell("echo free > free.txt")+" [[result]]")
	h.decide(approval.Approve, "")
	out = h.ended(name, out.Cursor)
	if now := h.seat(name); now.Outcome != "error: unguarded" {
		t.Errorf("%+v, %+v\n%s", out, now, h.shown(name))
	}
	out = h.begin(name, "again "+shell("echo free > free.txt")+" [[result]]")
	h.decide(approval.Cancel, "no")
	h.ended(name, out.Cursor)
	if _, err := os.Stat(filepath.Join(h.project, "free.txt")); err == nil {
		t.Error("it ran without an ask")
	}
}

// Settings that cannot be overruled are named, and nothing is sent to a program that would not ask.
func TestOpenCodeThatDoesNotAskIsNotUsed(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_CONFINE=bwrap", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
	h.write("home/.config/opencode/opencode.jsonc", `{ // mine
"agent":{"helper":{"permission":{"*":"ask","theirs_*":"allow"}}}}`)
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Agent: "opencode"}, &s)
	h.eventually("it is looked at", func() bool { s = h.seat("a"); return s.State != terminal.Starting })
	if s.State != terminal.Dialog || !strings.Contains(s.Detail, `agent "helper" use theirs_*`) {
		t.Fatalf("%+v\n%s", s, h.shown("a"))
	}
}
