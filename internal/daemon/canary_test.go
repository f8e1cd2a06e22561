package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/repo/host"
	"tandem/internal/session"
	sourcewire "tandem/internal/source/wire"
	"tandem/internal/space/peer"
	"tandem/internal/testenv"
)

// tracked is a house that serves a repository, in which two words lie that nobody can guess: one in a file, and one in a file's name.
type tracked struct {
	t       *testing.T
	d       *Daemon
	base    string // its address
	root    string // the served folder
	tree    string // another checkout of the same repository
	words   []string
	commits []string
	ids     []string // of sessions and asks
	session *session.Session
	callers map[string]op.Caller
	token   string // of the agent bob
}

func word() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

func (h *tracked) git(dir string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"},
		args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (h *tracked) write(name, text string) {
	h.t.Helper()
	at := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *tracked) do(name string, in any) any {
	h.t.Helper()
	out, err := h.d.gate.Invoke(owner(h.t, h.d), name, in)
	if err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	return out
}

func newTracked(t *testing.T) *tracked {
	t.Helper()
	dir := testenv.Dir(t)
	h := &tracked{t: t, root: dir + "/project", tree: dir + "/tree", words: []string{word(), word()}, callers: map[string]op.Caller{}}
	h.write("open.txt", "anybody\n")
	h.write("priv/p.txt", "it is "+h.words[0]+"\n")
	h.write("priv/"+h.words[1]+".txt", "its name says it\n")
	h.git(h.root, "init", "-q", "-b", "main")
	h.git(dir, "init", "-q", "--bare", dir+"/remote.git")
	h.git(h.root, "remote", "add", "origin", dir+"/remote.git")
	h.git(h.root, "add", "-A")
	h.git(h.root, "commit", "-qm", "all of it")
	h.write("priv/p.txt", "it was something else and is "+h.words[0]+" again\n")
	h.git(h.root, "commit", "-qam", "more of it")
	h.git(h.root, "worktree", "add", "-q", h.tree)
	h.commits = strings.Fields(h.git(h.root, "rev-list", "main"))

	h.d, h.base = walkedWith(t, map[string]string{"repos": h.root})
	h.token = mint(t, h.d, op.Agent, "bob")
	mint(t, h.d, op.Service, "robot")
	for _, who := range []string{"agent:bob", "service:robot", "session:*"} {
		for _, what := range []string{"repo:/", "workspace:/", "session:/", "space:/", "folder:" + dir} {
			h.do("grant.add", book.GrantIn{Principal: who, Resource: what, Permissions: []string{"view", "read", "edit", "execute"}})
		}
	}
	for _, name := range []string{"bob", "robot"} {
		c, err := h.d.identity.Caller(t.Context(), identity.LocalTenant, name, op.DoorHTTP)
		if err != nil {
			t.Fatal(err)
		}
		h.callers[name] = c
	}
	h.do("grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	h.do("folder.grant", session.FolderIn{Path: h.root})
	h.do("folder.grant", session.FolderIn{Path: h.tree})
	h.session = h.do("session.create", session.CreateIn{Title: "work", Directory: h.root}).(*session.Session)
	if err := h.d.rooms.session.Begun(t.Context(), h.session); err != nil {
		t.Fatal(err)
	}
	h.callers["session"] = h.session.Caller()
	h.write("priv/p.txt", "changed, with "+h.words[0]+"\n")
	h.write("priv/new-"+h.words[1]+".txt", h.words[0]+"\n")
	h.do("workspace.claim", host.ClaimIn{Repo: "project", Name: "anns"})
	h.do("repo.lease", host.LeaseIn{Repo: "project", Workspace: "anns", Path: "priv/" + h.words[1] + ".txt"})
	h.ids = append(h.asked(), h.session.ID, "work")
	h.do("source.add", sourcewire.AddIn{Name: "project", From: sourcewire.From{Folder: h.root}})
	h.do("source.resume", sourcewire.NameIn{Name: "project"})
	inside := op.WithCaller(t.Context(), op.CallerFrom(owner(t, h.d)).Later(op.DoorInside)) // as the server does
	if _, err := op.Do(inside, h.d.gate, sourcewire.Import, sourcewire.NameIn{Name: "project"}); err != nil {
		t.Fatal(err)
	}
	h.seated()
	return h
}

// asked are the asks of another session: for a change to the file, and for a push. What they would do is shown with them.
func (h *tracked) asked() (ids []string) {
	h.t.Helper()
	other := h.do("session.create", session.CreateIn{Title: "other", Directory: h.root}).(*session.Session)
	for what, right := range map[string]string{"folder:" + h.root: "edit", "repo:/": "execute"} {
		h.do("grant.add", book.GrantIn{Principal: "session:" + other.ID, Effect: "ask", Resource: what, Permissions: []string{right},
			Approvers: []string{"person:*"}})
	}
	for name, in := range map[string]any{"repo.git_push": host.GitIn{Repo: "project", Bookmarks: []string{"main"}},
		"tool.edit": session.CallIn{Session: other.ID, Args: json.RawMessage(`{"path":"priv/p.txt","old":"changed","new":"asked"}`)}} {
		_, err := h.d.gate.Invoke(op.WithCaller(h.t.Context(), other.Caller()), name, in)
		if !fault.Is(err, fault.Pending) {
			h.t.Fatalf("%s of another session: %v", name, err)
		}
		ids = append(ids, fault.Public(err).Data["approval"])
	}
	return ids
}

// seated gives the agent and the service seats in one space, each in a checkout of its own.
func (h *tracked) seated() {
	h.t.Helper()
	for name, folder := range map[string]string{"bob": h.tree, "robot": h.root} {
		c := h.callers[name]
		c.Door, c.Client = op.DoorSocket, op.Client{ID: "1." + name, Folder: folder}
		h.callers[name] = c
	}
	as := func(name, does string, in any) any {
		h.t.Helper()
		out, err := h.d.gate.Invoke(op.WithCaller(h.t.Context(), h.callers[name]), does, in)
		if err != nil {
			h.t.Fatalf("%s %s: %v", name, does, err)
		}
		return out
	}
	made := as("bob", "space.create", peer.CreateIn{}).(peer.Created)
	as("robot", "space.join", peer.JoinIn{Code: made.Code})
}

// values are what fields of inputs are filled with, by their names; others hold a word of no meaning.
func (h *tracked) values(field string) []any {
	args := func(list ...map[string]any) (out []any) {
		for _, a := range list {
			data, err := json.Marshal(a)
			if err != nil {
				h.t.Fatal(err)
			}
			out = append(out, json.RawMessage(data))
		}
		return out
	}
	type m = map[string]any
	switch field {
	case "repo":
		return []any{"project"}
	case "commit":
		return []any{h.commits[0], h.commits[1]}
	case "workspace":
		return []any{"anns"}
	case "id":
		var out []any
		for _, id := range h.ids {
			out = append(out, id)
		}
		return out
	case "session":
		return []any{h.session.ID}
	case "path", "file":
		return []any{"priv/p.txt", filepath.Join(h.tree, "priv", "p.txt"), "link.txt", "priv", "**"}
	case "folder", "directory", "cwd":
		return []any{h.root, h.tree, filepath.Join(h.root, "priv")}
	case "source":
		return []any{"project"}
	case "query":
		return []any{"changed with priv"}
	case "bookmarks":
		return []any{[]string{"main"}}
	case "args", "input":
		return args(m{"path": "priv/p.txt"}, m{"path": h.tree + "/priv/p.txt"}, m{"path": "priv"}, m{"pattern": "."}, m{"pattern": "**/*"},
			m{"command": "cat priv/p.txt; ls -R; git show HEAD:priv/p.txt; git log -p"},
			m{"path": "priv/p.txt", "old": "it", "new": "that"}, m{"op": "repo.change", "input": m{"repo": "project", "commit": h.commits[0]}},
			m{"operation": "repo.leases", "input": m{"repo": "project"}})
	case "page", "limit", "timeout_secs", "wait_ms", "seconds":
		return []any{1}
	case "state":
		return []any{"all"}
	case "call": // one that was made before would be completed
		return []any{word()}
	}
	return nil
}

// inputs are the ways in which an operation is tried.
func (h *tracked) inputs(o *op.Op) []map[string]any {
	all := []map[string]any{filled(o, "x")}
	for _, f := range o.Fields() {
		values := h.values(f.Name)
		if values == nil {
			continue
		}
		var next []map[string]any
		for _, in := range all {
			for _, v := range values {
				with := maps.Clone(in)
				with[f.Name] = v
				next = append(next, with)
			}
		}
		all = next
	}
	narrow := []string{"remote", "reply_to", "space", "text", "thread", "to"} // without these an operation is about all there is
	if o.Name == "memory.search" {
		narrow = append(narrow, "kind", "label", "of", "only", "tier")
	}
	for _, f := range o.Fields() {
		if f.Required || !slices.Contains(narrow, f.Name) {
			continue
		}
		for _, in := range all {
			delete(in, f.Name)
		}
	}
	return all
}

// carry are the operations whose answers hold one of the words, each with an example.
func (h *tracked) carry() map[string]string {
	out := map[string]string{}
	var mu sync.Mutex
	for _, change := range []bool{false, true, false} { // what was sent is read at the end
		var calls sync.WaitGroup
		slots := make(chan struct{}, 8)
		for _, o := range h.d.gate.Table().All() {
			if o.Class == op.ClassStream || o.People || o.Changes() != change && o.Name != "space.inbox" || quiet[o.Name] == endsWalk {
				continue
			}
			if change && strings.HasPrefix(o.Name, "tool.") { // the one before may have changed it
				calls.Wait()
				h.write("priv/p.txt", "changed, with "+h.words[0]+"\n")
			}
			for who, c := range h.callers {
				for _, in := range h.inputs(o) {
					slots <- struct{}{}
					calls.Go(func() {
						defer func() { <-slots }()
						said := call(h.d.gate, c, o, in)
						if h.holds(said) {
							sent, _ := json.Marshal(in)
							mu.Lock()
							defer mu.Unlock()
							out[o.Name] = fmt.Sprintf("%s %s: %.400s", who, sent, said)
						}
					})
				}
			}
		}
		calls.Wait()
	}
	for _, place := range []string{"/repo/project/watch", "/sessions/" + h.session.ID + "/stream"} {
		if said := h.stream(place); h.holds(said) {
			out[place] = said
		}
	}
	if said := h.stream("/event?since_seq=0"); strings.Contains(said, h.words[0]) { // who leased a file has said its name
		out["event.stream"] = "what is in a file is in an event"
	}
	if said := h.clone(); h.holds(said) {
		out["git clone"] = said
	}
	return out
}

func (h *tracked) holds(text string) bool {
	return slices.ContainsFunc(h.words, func(w string) bool { return strings.Contains(text, w) })
}

// stream is what the agent is sent in half a second, once it is answered.
func (h *tracked) stream(place string) string {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", h.base+place, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		h.t.Fatalf("%s: %v", place, err)
	}
	defer time.AfterFunc(500*time.Millisecond, cancel).Stop()
	defer resp.Body.Close()
	all, _ := io.ReadAll(resp.Body) // until its time is over
	return string(all)
}

// clone is what the agent's git gets of the repository, or the refusal.
func (h *tracked) clone() string {
	h.t.Helper()
	dir := h.t.TempDir()
	address := strings.Replace(h.base, "http://", "http://x:"+h.token+"@", 1) + "/project.git"
	for _, args := range [][]string{{"clone", "-q", address, dir + "/copy"}, {"-C", dir + "/copy", "log", "-p", "--all"}} {
		ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
		out, err := cmd.CombinedOutput()
		if err != nil || args[0] != "clone" {
			return string(out)
		}
	}
	return ""
}

// Every operation is called by an agent, a service and a session, with everything that the repository and what is in it are known by.
// What their answers can hold of files is on a list, and every other operation says why its answer holds none: a new one is on neither
// until somebody has thought about it.
func TestWhatCarriesFilesIsKnown(t *testing.T) {
	h := newTracked(t)
	all := []string{"git clone"} // a door without a row of its own
	for _, o := range h.d.gate.Table().All() {
		all = append(all, o.Name)
		if _, carried := carriers[o.Name]; carried == (quiet[o.Name] != "") {
			t.Errorf("%s: can its answer hold what is in a file? Then let it ask op.Sees or op.SeesTracked, have this test call it, and put it on "+
				"the list of carriers; else say on the other list why not", o.Name)
		}
	}
	for name := range maps.Keys(carriers) {
		if !slices.Contains(all, name) {
			t.Errorf("%s is on the list and does not exist", name)
		}
	}
	for name := range maps.Keys(quiet) {
		if !slices.Contains(all, name) {
			t.Errorf("%s is on the list and does not exist", name)
		}
	}
	got := h.carry()
	for name, way := range got {
		if _, known := carriers[name]; !known {
			t.Errorf("%s carries what is in a file, and is not on the list: %s", name, way)
		}
	}
	for name, tried := range carriers {
		if got[name] == "" && tried {
			t.Errorf("%s was tried and carried nothing, so that what is denied would prove nothing of it", name)
		}
	}
}

// A folder of a repository was denied, and its files were in leases, in the asks of others and in what was shared from another checkout. A
// canary in what is denied is in no answer of any operation, stream or clone, however it was denied: by a tree of the served folder or
// of another checkout, a pattern, a label or a rule.
func TestACanaryOfARepositoryStaysWhereItIs(t *testing.T) {
	deny := map[string]func(h *tracked){
		"a tree of the served folder": func(h *tracked) {
			h.do("grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:" + h.root + "/priv", Permissions: []string{"view"}})
		},
		"a tree of another checkout": func(h *tracked) {
			h.do("grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:" + h.tree + "/priv", Permissions: []string{"view"}})
		},
		"a pattern": func(h *tracked) {
			h.do("grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:/", Permissions: []string{"view"},
				Only: []string{"/**/priv/**"}})
		},
		"a label": func(h *tracked) {
			h.do("policy.label", book.LabelIn{Resource: "folder:" + h.tree + "/priv", Class: "customer_data"})
		},
		"a rule": func(h *tracked) {
			h.do("policy.edit", book.EditIn{Rules: `forbid (principal, action, resource in Folder::"` + h.root + `/priv");`})
		},
	}
	ways := slices.Sorted(maps.Keys(deny))
	if !testenv.Soak() { // map order is chance; a run of the whole takes a minute
		mathrand.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
		ways = ways[:2]
	}
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			h := newTracked(t)
			deny[way](h)
			for name, said := range h.carry() {
				t.Errorf("%s shows what is denied: %s", name, said)
			}
			if said := h.clone(); !strings.Contains(said, "403") {
				t.Errorf("a clone is not refused: %s", said)
			}
			bob := op.WithCaller(t.Context(), h.callers["bob"])
			if _, err := h.d.gate.Invoke(bob, "workspace.claim", host.ClaimIn{Repo: "project", Name: "bobs"}); err != nil {
				t.Fatal(err)
			}
			_, err := h.d.gate.Invoke(bob, "repo.lease", host.LeaseIn{Repo: "project", Workspace: "bobs", Path: "priv/p.txt"})
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("what is denied can be leased: %v", err)
			}
		})
	}
}
