package daemon

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// reading is a program that reads what it is told, and gives all of its folder as resources.
const reading = `
import json, os, sys
def walk(at):
    return [os.path.join(d, f) for d, _, fs in os.walk(at) for f in fs]
def text(at):
    try: return open(at, errors="replace").read()
    except OSError as e: return "no: %s" % e
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    p = m.get("params") or {}
    if m["method"] == "initialize":
        r = {"protocolVersion": p["protocolVersion"], "capabilities": {"tools": {}, "resources": {}},
             "serverInfo": {"name": "p", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "all", "description": "reads all", "inputSchema": {"type": "object"}}]}
    elif m["method"] == "tools/call":
        r = {"content": [{"type": "text", "text": "\n".join(at + ": " + text(at) for at in walk(os.getcwd()))}]}
    elif m["method"] == "resources/list":
        r = {"resources": [{"uri": "file://" + at, "name": text(at)[:60]} for at in walk(os.getcwd())]}
    elif m["method"] == "resources/read":
        r = {"contents": [{"uri": p["uri"], "text": text(p["uri"][7:])}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True); continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`

// A connector's program that was given a folder is no way around what policy denies of it: whoever calls its tool, and whoever reads
// what it offers as documents, gets what they see themselves. Denied by a grant, by a rule and by a label.
func TestACanaryThatIsDeniedIsBehindNoConnector(t *testing.T) {
	for way, deny := range map[string]func(w *ward, tree string){
		"a grant": func(w *ward, tree string) {
			w.present("grant.add", map[string]any{"principal": "*", "effect": "deny", "resource": "folder:" + tree,
				"permissions": []string{"view"}}, nil)
		},
		"a rule": func(w *ward, tree string) {
			w.present("policy.edit", map[string]any{"rules": `forbid (principal, action, resource in Folder::"` + tree + `");`}, nil)
		},
		"a label": func(w *ward, tree string) {
			w.present("policy.label", map[string]any{"resource": "folder:" + tree, "class": "customer_data"}, nil)
		},
	} {
		t.Run(way, func(t *testing.T) { behindNoConnector(newWard(t, ""), way == "a label", deny) })
	}
}

func behindNoConnector(w *ward, programsOnly bool, deny func(w *ward, tree string)) {
	t, ctx := w.t, w.t.Context()
	word := func() string { b := make([]byte, 16); rand.Read(b); return hex.EncodeToString(b) }
	folder, secret, open := testenv.Dir(t), word(), word()
	for name, text := range map[string]string{"serve.py": reading, "priv/deep/p.txt": secret, "a.txt": open} {
		w.must(os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
		w.must(os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o644))
	}
	w.present("connector.command", map[string]any{"name": "files", "folder": folder,
		"command": []string{"/usr/bin/python3", filepath.Join(folder, "serve.py")}}, nil)
	w.present("connector.accept", map[string]any{"name": "files"}, nil)
	w.present("folder.grant", map[string]any{"path": folder}, nil)
	for _, who := range []string{"session:*", "agent:*"} {
		for _, what := range []string{"connector:/", "tool:/"} {
			w.present("grant.add", map[string]any{"principal": who, "resource": what, "permissions": []string{"execute"}}, nil)
		}
	}
	w.present("actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
	var token struct{ Secret string }
	w.present("token.new", map[string]any{"actor": "builder"}, &token)
	agent, err := w.identity.Bearer(ctx, token.Secret, op.DoorHTTP)
	w.must(err)
	var s session.Session
	w.must(w.Call(ctx, "session.create", map[string]any{"title": "a", "directory": folder}, &s))
	owner, err := w.rooms.session.Get(ctx, "local", s.ID)
	w.must(err)
	people := map[string]op.Caller{"the session": owner.Caller(), "an agent": agent}
	if !programsOnly {
		people["the terminal"] = op.Caller{Tenant: "local", Actor: "act_local", Name: "local", Kind: op.Local, Door: op.DoorSocket}
	}
	ways := func(c op.Caller) map[string]string {
		t.Helper()
		got := map[string]string{}
		as := op.WithCaller(ctx, c)
		in := map[string]any{"connector": "files", "tool": "all", "args": map[string]any{}}
		if c.Session != "" {
			in["session"] = c.Session
		}
		raw, err := json.Marshal(in)
		w.must(err)
		row := w.gate.Table().Get("connector.call")
		arg, err := row.Decode(raw)
		w.must(err)
		out, err := w.gate.Invoke(as, "connector.call", arg)
		said, _ := json.Marshal(out)
		got["its tool"] = string(said) + fmt.Sprint(err)
		as = op.WithAllowed(as, func(string, op.Resource) bool { return true }) // a source that may read the connector
		list, err := w.rooms.connector.Resources(as, "files")
		got["its list"] = fmt.Sprint(list, err)
		text, err := w.rooms.connector.ReadResource(as, "files", "file://"+filepath.Join(folder, "priv/deep/p.txt"))
		got["its resource"] = fmt.Sprint(string(text), err)
		text, err = w.rooms.connector.ReadResource(as, "files", "file://"+filepath.Join(folder, "a.txt"))
		got["its open resource"] = fmt.Sprint(string(text), err)
		return got
	}
	for who, c := range people {
		if got := ways(c)["its tool"]; !strings.Contains(got, secret) || !strings.Contains(got, open) {
			t.Fatalf("before anybody denied it, %s does not read it: %s", who, got)
		}
	}
	deny(w, filepath.Join(folder, "priv"))
	for who, c := range people {
		for way, got := range ways(c) {
			if strings.Contains(got, secret) {
				t.Errorf("it is denied to %s, and %s has it: %.600s", who, way, got)
			}
			if way != "its resource" && !strings.Contains(got, open) {
				t.Errorf("what is not denied to %s is not in %s: %.600s", who, way, got)
			}
		}
	}
}
