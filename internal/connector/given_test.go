package connector

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/tool"
)

// counting is a program of somebody's own folder: it counts its calls, says where it is and what it was given, and dies when told.
const counting = `
import json, os, sys
n = 0
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "count", "description": "counts", "inputSchema": {"type": "object"}}]}
    elif m["method"] == "tools/call":
        if m["params"]["arguments"].get("die"):
            sys.stderr.write("the database is locked\n"); sys.exit(3)
        if m["params"]["arguments"].get("open"):
            try: text = open(m["params"]["arguments"]["open"]).read()
            except OSError as e: text = "no: %s" % e
            r = {"content": [{"type": "text", "text": text}]}
            print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True); continue
        n += 1
        r = {"content": [{"type": "text", "text": "call %d in %s, team %s, key of %d letters, key %s" % (n, os.getcwd(), ` +
	`os.environ.get("TEAM"), len(os.environ.get("APP_KEY", "")), os.environ.get("APP_KEY"))}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True); continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

// A program in somebody's home was not seen by the sandbox and said "EOF"; it had no folder, no variable, no secret, and each call was a
// process of its own.
func TestAProgramHasItsFolderAndVariables(t *testing.T) {
	r, d, _ := room(t)
	t.Cleanup(func() { r.Close() })
	box, err := tool.FindSandbox(t.Context(), tool.Bubblewrap)
	if err != nil || box.Kind != tool.Bubblewrap {
		t.Fatalf("bubblewrap does not work here (%v): run make test-tools", err)
	}
	r.sandbox = box
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "serve.py"), []byte(counting), 0o644); err != nil {
		t.Fatal(err)
	}
	in := wire.CommandIn{Name: "tickets", Command: []string{"/usr/bin/python3", filepath.Join(folder, "serve.py")},
		Given: wire.Given{Folder: folder, Env: []string{"TEAM=core"}, Secrets: []string{"APP_KEY"}}}
	if err := d.Write(as(t), func(tx *db.Tx) error { _, err := r.addCommand(as(t), tx, in); return err }); err != nil {
		t.Fatal(err)
	}
	if _, err := r.accept(as(t), wire.AcceptIn{Name: "tickets"}); err == nil || !strings.Contains(err.Error(), "APP_KEY") {
		t.Fatalf("without its secret: %v", err)
	}
	store := func(name, value string) error {
		return d.Write(as(t), func(tx *db.Tx) error {
			_, err := r.secret(as(t), tx, wire.SecretIn{Name: "tickets", Secret: value, For: name})
			return err
		})
	}
	if err := store("OTHER", "x"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a variable that it does not take: %v", err)
	}
	if err := store("APP_KEY", "sk-tickets-0123456789"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.accept(as(t), wire.AcceptIn{Name: "tickets"}); err != nil {
		t.Fatal(err)
	}
	call := func(session, args string) (string, error) {
		out, err := r.call(as(t), wire.CallIn{Connector: "tickets", Tool: "count", Session: session, Args: []byte(args)})
		return out.Result.Text, err
	}
	for _, c := range []struct{ session, want string }{{"ses_1", "call 1 in " + folder}, {"ses_1", "call 2 in " + folder},
		{"ses_2", "call 1 in " + folder}, {"", "call 1 in " + folder}, {"ses_1", "call 3 in " + folder}} {
		got, err := call(c.session, "{}")
		if err != nil || !strings.HasPrefix(got, c.want) || !strings.Contains(got, "team core, key of 21 letters") ||
			strings.Contains(got, "sk-tickets") {
			t.Errorf("%q: %q %v", c.session, got, err)
		}
	}
	if _, err := call("ses_1", `{"die":true}`); err == nil || !strings.Contains(err.Error(), "the database is locked") {
		t.Errorf("what it said when it died: %v", err)
	}
	if got, err := call("ses_1", "{}"); err != nil || !strings.HasPrefix(got, "call 1 ") {
		t.Errorf("after it died: %q %v", got, err)
	}
}

// seesAll is a caller to whom nothing is denied.
func seesAll(context.Context) (*tool.Sight, error) {
	return &tool.Sight{Of: func(string) tool.Seen { return tool.Seen{} }, Edges: func(string) []string { return nil }}, nil
}

// A program reads its folder for whoever calls it: what that one is denied is not there, and what is denied later ends the program before
// it answers again. It used to see all of the folder, and handed it on.
func TestAProgramSeesWhatItsCallerSees(t *testing.T) {
	r, d, _ := room(t)
	t.Cleanup(func() { r.Close() })
	box, err := tool.FindSandbox(t.Context(), tool.Bubblewrap)
	if err != nil || box.Kind != tool.Bubblewrap {
		t.Fatalf("bubblewrap does not work here (%v): run make test-tools", err)
	}
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"serve.py": counting, "a/first": "CANARY-A", "b/second": "CANARY-B"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var denied []string
	r.sandbox, r.see = box, func(context.Context) (*tool.Sight, error) {
		now := slices.Clone(denied)
		under := func(path string) bool {
			return slices.ContainsFunc(now, func(d string) bool { return path == d || strings.HasPrefix(path, d+"/") })
		}
		return &tool.Sight{Of: func(path string) tool.Seen { return tool.Seen{Hidden: under(path)} },
			Edges: func(string) []string { return now }}, nil
	}
	in := wire.CommandIn{Name: "files", Command: []string{"/usr/bin/python3", filepath.Join(folder, "serve.py")},
		Given: wire.Given{Folder: folder}}
	if err := d.Write(as(t), func(tx *db.Tx) error { _, err := r.addCommand(as(t), tx, in); return err }); err != nil {
		t.Fatal(err)
	}
	if _, err := r.accept(as(t), wire.AcceptIn{Name: "files"}); err != nil {
		t.Fatal(err)
	}
	read := func(session, name string) string {
		out, err := r.call(as(t), wire.CallIn{Connector: "files", Tool: "count", Session: session,
			Args: []byte(`{"open":"` + filepath.Join(folder, name) + `"}`)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out.Result.Text
	}
	for _, session := range []string{"ses_1", ""} { // a program that stays, and one for a single call
		denied = []string{filepath.Join(folder, "a")}
		if got := read(session, "a/first"); strings.Contains(got, "CANARY") {
			t.Errorf("%q: what is denied is read: %s", session, got)
		}
		if got := read(session, "b/second"); !strings.Contains(got, "CANARY-B") {
			t.Errorf("%q: what is not denied is not read: %s", session, got)
		}
		denied = append(denied, filepath.Join(folder, "b"))
		if got := read(session, "b/second"); strings.Contains(got, "CANARY") {
			t.Errorf("%q: what was denied later is read: %s", session, got)
		}
	}
}

func TestWhatAProgramCannotBeGiven(t *testing.T) {
	for _, g := range []wire.Given{{Folder: "here"}, {Folder: "/"}, {Write: true}, {Env: []string{"NAME"}},
		{Env: []string{"LD_PRELOAD=/x.so"}}, {Env: []string{"A=1"}, Secrets: []string{"A"}}, {Secrets: []string{"a b"}}} {
		if check(&wire.Connector{Name: "a", Command: []string{"/x"}, Given: g}) == nil {
			t.Errorf("%+v passed", g)
		}
	}
	if check(&wire.Connector{Name: "a", URL: "http://x", Given: wire.Given{Folder: "/f"}}) == nil {
		t.Error("an address has a folder")
	}
}
