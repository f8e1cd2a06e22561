package loop

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/policy"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/testenv"
	"tandem/internal/tool"
)

// canaries are words that nobody can guess, by the file they lie in.
type canaries map[string]string

func (h *house) plant(names ...string) canaries {
	h.t.Helper()
	out := canaries{}
	for _, name := range names {
		b := make([]byte, 16)
		rand.Read(b)
		out[name] = hex.EncodeToString(b)
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o755); err != nil {
			h.t.Fatal(err)
		}
		h.write(name, "canary "+out[name]+"\n")
	}
	return out
}

func (h *house) git(args ...string) {
	h.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", h.dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c",
		"commit.gpgsign=false"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("git %v: %v %s", args, err, out)
	}
}

// call uses a tool as the session's model would, and gives all that came of it.
func (h *house) call(s *session.Session, name string, args any) string {
	h.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := h.try(s.Caller(), session.ToolOp(name), session.CallIn{Session: s.ID, Args: raw})
	all, _ := json.Marshal(out)
	return string(all) + fmt.Sprint(err)
}

type args = map[string]any

// everyWay tries each built-in tool that shows files on one of them, in the ways that people and models think of.
func everyWay(h *house, s *session.Session, name string) map[string]string {
	dir := filepath.Dir(name)
	got := map[string]string{}
	for _, c := range []struct {
		tool string
		args args
	}{
		{"read", args{"path": name}}, {"read", args{"path": filepath.Join(h.dir, name)}}, {"read", args{"path": "./" + dir + "/../" + name}},
		{"list", args{"path": dir}}, {"glob", args{"pattern": "**/*"}}, {"grep", args{"pattern": "canary"}},
		{"grep", args{"pattern": ".", "path": dir}},
		{"edit", args{"path": name, "old": "canary", "new": "bird"}}, {"write", args{"path": name + ".new", "content": "x"}},
		{"apply_patch", args{"patch": "*** Begin Patch\n*** Update File: " + name + "\n@@\n-canary\n+bird\n*** End Patch\n"}},
	} {
		got[fmt.Sprint(c.tool, c.args)] = h.call(s, c.tool, c.args)
	}
	for _, line := range []string{
		"cat " + name, "cat < " + name, "grep -r canary . ; cat */* */*/* *", "find . -type f | xargs cat; ls -laR", "cat " + h.dir + "/" + name,
		"ln -s " + name + " way; cat way; rm way", "ln " + name + " hard; cat hard", "cp -r " + dir + " copy; cat copy/*; rm -rf copy",
		"mv " + dir + " moved; cat moved/*; mv moved " + dir,
		"git show HEAD:" + name, "git log -p --all", "git grep canary HEAD", "git archive HEAD | cat",
		"git --git-dir=.git cat-file -p HEAD:" + name,
		"python3 -c \"print(open('" + name + "').read())\"", "tar c . | cat",
		"cat /proc/*/cwd/" + name + " /proc/self/root/" + h.dir + "/" + name,
		"umount " + dir + " " + name + "; cat " + name, "dd if=" + name, "x=" + name + "; cat $x; cat \"$x\"", "cd " + dir + " && cat *",
	} {
		got["$ "+line] = h.call(s, "bash", args{"command": line})
	}
	return got
}

// What `policy explain` denies to a session appears in no tool's output: whoever denied it, by a tree, a glob, a label, a rule or a tool's
// arguments, and though the file lies in version control too. A folder that was denied was once open to searches and commands.
func TestACanaryThatIsDeniedStaysWhereItIs(t *testing.T) {
	h := newHouseWith(t, "", tool.Bubblewrap)
	if h.box.Kind != tool.Bubblewrap {
		t.Fatalf("bubblewrap does not work here (%s): run make test-tools", h.box.Why)
	}
	files := []string{"a.txt", "priv/p.txt", "PRIV/p.txt", "src/Priv/s.txt", "priv/deep/q.txt", "src/main.txt",
		"src/priv/r.txt", "docs/customers/ann.txt", "docs/open.txt"}
	seeds := [2]uint64{uint64(time.Now().UnixNano()), 7}
	t.Logf("seeds %v", seeds)
	dice := mathrand.New(mathrand.NewPCG(seeds[0], seeds[1]))
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	h.git("init", "-q")
	ways := []func(tree string){
		func(tree string) {
			h.do(person, "grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:" + h.dir + "/" + tree,
				Permissions: []string{"view"}})
		},
		func(tree string) {
			h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:/", Permissions: []string{"read"},
				Only: []string{"/**/" + tree + "/**"}})
		},
		func(tree string) {
			h.do(person, "policy.label", book.LabelIn{Resource: "folder:" + h.dir + "/" + tree, Class: "customer_data"})
		},
		func(tree string) {
			h.do(person, "policy.edit", book.EditIn{Rules: `forbid (principal is Session, action, resource in Folder::"` + h.dir + "/" + tree +
				`");`})
		},
		func(tree string) {
			h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "*:/", Permissions: []string{"view"},
				Tools: []string{"*(path: " + h.dir + "/" + tree + "/**)"}})
		},
	}
	denied := 0
	for round := range 5 {
		hidden := map[string]string{}
		planted := h.plant(files...)
		h.git("add", "-A")
		h.git("commit", "-q", "-m", fmt.Sprint(round))
		ways[(round+dice.IntN(len(ways)))%len(ways)]([]string{"priv", "src/priv", "docs/customers", "priv/deep"}[dice.IntN(4)])
		s := h.session()
		sight, err := h.gate.Sight(t.Context(), "")
		if err == nil {
			t.Fatalf("nobody sees something: %v", sight)
		}
		c, err := h.rules.Policy(t.Context(), "local")
		if err != nil {
			t.Fatal(err)
		}
		me := policy.StrictTenantContext{Tenant: "local", Principal: policy.PrincipalRef{Kind: policy.Session, ID: s.ID},
			AuthorityChain: []policy.PrincipalRef{{Kind: policy.Local, ID: "local"}}}
		for _, name := range files {
			at := h.dir + "/" + name
			d := c.View(me, time.Now()).Decide(policy.Request{Right: "folder.read", Resource: policy.ResourceRef{Kind: "folder", Path: at},
				Tool: "read", Facts: &policy.Facts{Paths: []string{at}}})
			if d.Effect != policy.Deny {
				continue
			}
			denied++
			hidden[name] = planted[name]
			for way, out := range everyWay(h, s, name) {
				for where, word := range planted {
					if where == name && strings.Contains(out, word) {
						t.Errorf("round %d: %s is denied (%s), and %s shows it: %.300s", round, name, d.By, way, out)
					}
				}
			}
		}
		// A file that goes with a prompt by its name is read with the session's own eyes; and what nobody was shown is in no export and in no
		// row of the house.
		for name, word := range hidden {
			at := h.dir + "/" + name
			got := h.ask(local, s, "The file "+at+` goes with this: read it. [[tool read {"path":"`+at+`"}]] [[result]]`)
			if strings.Contains(got, word) {
				t.Errorf("round %d: %s is denied, and attached it shows: %.300s", round, name, got)
			}
		}
		for where, text := range h.kept() {
			for name, word := range hidden {
				if strings.Contains(text, word) {
					t.Errorf("round %d: %s is denied, and is kept in %s", round, name, where)
				}
			}
			if !strings.Contains(text, s.ID) {
				t.Errorf("round %d: %s does not know the session", round, where)
			}
		}
		// What is open stays open: the same box, the same searches.
		if got := h.call(s, "bash", args{"command": "cat a.txt | tr a-z a-z"}) + h.call(s, "grep", args{"pattern": "canary"}); strings.Count(got,
			planted["a.txt"]) != 2 {
			t.Errorf("round %d: what nobody denied is gone: %.500s", round, got)
		}
	}
	if denied < 5 {
		t.Fatalf("only %d files were denied", denied)
	}
}

// kept is all that the house wrote down: its journal as it is exported, and its database.
func (h *house) kept() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	for after, size := int64(0), int64(0); ; {
		page, err := h.jn.Export(h.t.Context(), "local", after, size, 0)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, line := range page.Lines {
			out["the export"] += string(line) + "\n"
		}
		if after, size = page.Next, page.Size; after == 0 {
			break
		}
	}
	for _, name := range []string{h.file, h.file + "-wal"} {
		if data, err := os.ReadFile(name); err == nil {
			out["the database"] += string(data)
		}
	}
	return out
}

// A denial that comes while a command runs ends the command, which was started without it.
func TestANewDenialEndsARunningCommand(t *testing.T) {
	h := newHouseWith(t, "", tool.Bubblewrap)
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	h.plant("priv/p.txt", "a.txt")
	s := h.session()
	got := make(chan string, 1)
	go func() { got <- h.call(s, "bash", args{"command": "touch started; sleep 600; cat priv/p.txt"}) }()
	testenv.Eventually(t, "the command starts", 2*time.Minute, func() bool { return h.read("started") == "" })
	// One that takes nothing from it lets it go on.
	h.do(person, "grant.add", book.GrantIn{Principal: "agent:other", Effect: "deny", Resource: "folder:" + h.dir + "/priv",
		Permissions: []string{"view"}})
	select {
	case out := <-got:
		t.Fatalf("another's denial ended it: %s", out)
	case <-time.After(3 * time.Second):
	}
	began := time.Now()
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + h.dir + "/priv",
		Permissions: []string{"view"}})
	select {
	case out := <-got:
		if !strings.Contains(out, "was denied while it ran") {
			t.Errorf("%s", out)
		}
		t.Logf("ended after %s", time.Since(began))
	case <-time.After(2 * time.Minute):
		t.Fatal("it runs on")
	}
}

// A command ran on to its end, for hours if it liked, when the folder was taken back or the person whom it ran for was disabled.
func TestWhatIsTakenBackEndsARunningCommand(t *testing.T) {
	for name, take := range map[string]func(h *house){
		"the folder":             func(h *house) { h.do(person, "folder.revoke", session.FolderRevokeIn{Path: h.dir}) },
		"whoever it ran for may": func(h *house) { h.barred.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouseWith(t, "", tool.Bubblewrap)
			h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
			s := h.session()
			turn := h.prompt(s, `x [[tool bash {"command":"while sleep 0.2; do date >> ticks; done"}]]`)
			size := func() int64 {
				st, err := os.Stat(filepath.Join(h.dir, "ticks"))
				if err != nil {
					return 0
				}
				return st.Size()
			}
			testenv.Eventually(t, "the command runs", 2*time.Minute, func() bool { return size() > 0 })
			take(h)
			testenv.Eventually(t, "the command ends", time.Minute, func() bool {
				calls, err := h.room.Calls(t.Context(), turn)
				return err == nil && len(calls) == 1 && calls[0].State.Ended()
			})
			calls, err := h.room.Calls(t.Context(), turn)
			if err != nil || !strings.Contains(calls[0].Result.Text, "the command was ended") {
				t.Errorf("%+v %v", calls[0].Result, err)
			}
			h.barred.Store(false)
		})
	}
}

// A denial of the network, or of one host, ends a command that has the network: nobody knows whom it talks to. One without it runs on.
func TestANetworkDenialEndsARunningCommand(t *testing.T) {
	h := newHouseWith(t, "", tool.Bubblewrap)
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	s := h.session()
	got, offline := make(chan string, 1), make(chan string, 1)
	wait := func(name string, network bool) string {
		return h.call(s, "bash", args{"command": "touch " + name + " && sleep 600", "network": network})
	}
	go func() { got <- wait("first", true) }()
	go func() { offline <- wait("second", false) }()
	there := func(name string) bool { _, err := os.Stat(filepath.Join(h.dir, name)); return err == nil }
	testenv.Eventually(t, "the commands start", 2*time.Minute, func() bool { return there("first") && there("second") })
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/", Permissions: []string{"execute"},
		Tools: []string{"bash(host: b.example)"}})
	select {
	case out := <-got:
		if !strings.Contains(out, "host b.example was denied while it ran") {
			t.Errorf("%s", out)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("it runs on")
	}
	go func() { got <- wait("third", true) }()
	testenv.Eventually(t, "another one starts", 2*time.Minute, func() bool { return there("third") })
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/network",
		Permissions: []string{"execute"}})
	select {
	case out := <-got:
		if !strings.Contains(out, "the network was denied while it ran") {
			t.Errorf("%s", out)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("it runs on")
	}
	if out := h.call(s, "webfetch", args{"url": "http://b.example/"}); !strings.Contains(out, "the network, which is denied") {
		t.Errorf("a page is fetched: %s", out)
	}
	select {
	case out := <-offline:
		t.Errorf("one without the network was ended: %s", out)
	default:
	}
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + h.dir, Permissions: []string{"view"}})
	<-offline
}
