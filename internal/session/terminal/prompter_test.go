package terminal_test

import (
	"strings"
	"testing"

	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
)

// A chat app that was denied a folder had the person's Claude Code read it: the program's box was built for the person. Such a prompt
// is refused before anything is typed, and says why; what is denied as a tool, the program's hook refuses while it works for the app.
func TestARealAgentHearsNobodyWhoIsDeniedMoreThanIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	h.write("home/code/priv/p.txt", "word of priv\n")
	deny := func(resource string, can ...string) {
		t.Helper()
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add",
			book.GrantIn{Principal: "agent:mcp", Effect: "deny", Resource: resource, Permissions: can}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add",
		book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}}, nil); err != nil {
		t.Fatal(err)
	}
	h.open("a")
	app := h.chat()
	read := `go [[tool Bash {"command":"cat priv/p.txt","description":"look"}]] [[result]]`
	var out sent
	if no := app.tool("send_to_session", map[string]any{"name": "a", "text": read}, &out); no != "" ||
		!strings.Contains(out.Report, "word of priv") {
		t.Fatalf("an app that was denied nothing: %s %+v", no, out)
	}
	deny("tool:/bash", "execute")
	out = sent{}
	if no := app.tool("send_to_session", map[string]any{"name": "a", "text": read}, &out); no != "" ||
		strings.Contains(out.Report, "word of priv") {
		t.Errorf("a denied tool was used for it: %s %+v", no, out)
	}
	deny("folder:"+h.project+"/priv", "view")
	no := app.tool("send_to_session", map[string]any{"name": "a", "text": `go [[tool Read {"file_path":"priv/p.txt"}]] [[result]]`}, &out)
	if !strings.Contains(no, "denied to agent:mcp and not to this session") {
		t.Errorf("the app was heard: %s %+v", no, out)
	}
	if got := h.send("a", read).Report; !strings.Contains(got, "word of priv") {
		t.Errorf("the person's own prompt is bound by it: %s", got)
	}
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)
}
