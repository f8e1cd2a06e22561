package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestToolPatternsReadArguments(t *testing.T) {
	tool := func(patterns ...string) func(*ScopedGrant) { return func(g *ScopedGrant) { g.ToolPatterns = patterns } }
	c := compiled(t, "",
		give(t, "git", "agent:a", Allow, "tool:/", "execute", tool("bash(command: git log; command: git diff)", "read(path: /code/**)",
			"webfetch(host: example.org; host: *.example.org)", "mcp.github.*")),
		give(t, "no-secrets", "agent:a", Deny, "*", "execute", tool("*(path: /code/secret/**)")),
		give(t, "no-push", "agent:a", Deny, "tool:/", "execute", tool("mcp.github.push*", "bash(command: git diff --output)")))
	v := seen(t, c, "agent:a")
	call := func(name string, f *Facts) Request {
		return Request{Permission: CanExecute, Resource: ToolRef(name), Tool: name, Facts: f}
	}
	sh := func(line string) *Facts {
		cmds, ok := Commands(line)
		return &Facts{Commands: cmds, Opaque: !ok}
	}
	for _, x := range []struct {
		r Request
		e Effect
	}{
		{call("bash", sh("git log -p")), Allow},
		{call("bash", sh("git log && git diff HEAD")), Allow},
		{call("bash", sh("git logx")), Deny},
		{call("bash", sh("git log; rm -rf /")), Deny},
		{call("bash", sh("git log $(rm x)")), Deny},
		{call("bash", sh("git log > /etc/x")), Deny},
		{call("bash", sh("sh -c 'git log'")), Deny},
		{call("bash", sh("git diff --output /x")), Deny},
		{call("bash", nil), Deny},
		{call("bash", &Facts{}), Deny},
		{call("read", &Facts{Paths: []string{"/code/a.go"}}), Allow},
		{call("read", &Facts{Paths: []string{"/code/a.go", "/etc/passwd"}}), Deny},
		{call("read", &Facts{Paths: []string{"/code/../etc/passwd"}}), Deny},
		{call("read", &Facts{Paths: []string{"/code-evil/a"}}), Deny},
		{call("read", &Facts{Paths: []string{"/code/secret/k"}}), Deny},
		{call("webfetch", &Facts{Hosts: []string{"www.example.org"}}), Allow},
		{call("webfetch", &Facts{Hosts: []string{"EXAMPLE.org."}}), Allow},
		{call("webfetch", &Facts{Hosts: []string{"evilexample.org"}}), Deny},
		{call("webfetch", &Facts{Hosts: []string{"example.org.evil.net"}}), Deny},
		{call("mcp.github.list", &Facts{}), Allow},
		{call("mcp.github.push_force", &Facts{}), Deny},
		{call("mcp.gitlab.list", &Facts{}), Deny},
	} {
		want(t, v, x.r, x.e, "")
	}
	// what a call might be allowed is shown; what never is, is not
	for name, shown := range map[string]bool{"bash": true, "read": true, "mcp.github.list": true, "mcp.github.push_x": false, "edit": false} {
		if v.MayUse(name) != shown {
			t.Errorf("MayUse(%s) = %v", name, !shown)
		}
	}
}

func TestDoubtIsAnAskUnderDefaults(t *testing.T) {
	c := compiled(t, "", append(DefaultGrants(),
		give(t, "auto", "agent:a", Allow, "tool:/", "execute", func(g *ScopedGrant) { g.DataClasses = []DataClass{AnyClass} }))...)
	v := seen(t, c, "agent:a")
	run := func(line string) Request {
		cmds, ok := Commands(line)
		return Request{Permission: CanExecute, Resource: ToolRef("bash"), Tool: "bash", Facts: &Facts{Commands: cmds, Opaque: !ok}}
	}
	want(t, v, run("go test ./..."), Allow, "grant:auto")
	want(t, v, run("cat $X"), Ask, "grant:default-agent-keys-by-tool")
	boxed := run("cat $X | tee y")
	boxed.Facts.Boxed = true // a sandbox hides them: there is nothing to ask about
	want(t, v, boxed, Allow, "grant:auto")
	r := run("cat x")
	r.Facts.Paths = []string{"/home/u/.ssh/id_ed25519"}
	want(t, v, r, Deny, "grant:default-agent-keys-by-tool")
}

func TestDefaults(t *testing.T) {
	c := compiled(t, "", DefaultGrants()...)
	if dead := c.Dead(); len(dead) != 0 {
		t.Errorf("dead defaults: %v", dead)
	}
	a := seen(t, c, "agent:a")
	code := func(p AccessPermission, path string) Request {
		return Request{Permission: p, Resource: ResourceRef{Kind: KindFolder, Path: path}, Class: SourceCode}
	}
	want(t, a, code(CanRead, "/code/x.go"), Allow, "")
	want(t, a, code(CanEdit, "/code/x.go"), Ask, "grant:default-agent-folder-write")
	want(t, a, code(CanRead, "/home/u/.ssh/id_rsa"), Deny, "grant:default-agent-keys")
	want(t, a, code(CanRead, "/code/.env"), Deny, "grant:default-agent-keys")
	want(t, a, code(CanRead, "/code/.env.example"), Allow, "")
	want(t, a, do(t, CanEdit, "resource:/locks/x"), Allow, "")
	want(t, a, do(t, CanEdit, "setting:/x"), Ask, "")
	want(t, a, do(t, CanRead, "secret:/x"), Deny, "")
	want(t, a, do(t, CanRead, "token:/x"), Deny, "")
	tool := func(name string) Request {
		return Request{Permission: CanExecute, Resource: ToolRef(name), Tool: name, Facts: &Facts{}}
	}
	want(t, a, tool("grep"), Allow, "grant:default-agent-tool-read")
	want(t, a, tool("mcp.acme.wipe_database"), Ask, "grant:default-agent-tool")
	for _, who := range []string{"local:local", "service:api"} {
		want(t, seen(t, c, who), do(t, CanEdit, "setting:/x"), Allow, "")
		want(t, seen(t, c, who), tool("bash"), Allow, "")
		want(t, seen(t, c, who), Request{Right: "token.mint", Resource: ResourceRef{Path: "/x"}, Present: true}, Deny, "")
	}
	anna, laptop := seen(t, c, "person:anna"), seen(t, c, "local:anna-laptop", "person:anna")
	for _, who := range []*View{anna, laptop} {
		want(t, who, do(t, CanEdit, "resource:/x"), Allow, "")
		want(t, who, do(t, CanRead, "token:/x"), Allow, "")
	}
	want(t, laptop, tool("bash"), Ask, "grant:default-terminal-tool-ask")
	want(t, laptop, tool("grep"), Allow, "")
	want(t, laptop, code(CanEdit, "/code/x.go"), Ask, "grant:default-terminal-folder-ask")
	for right, effect := range map[string]Effect{"approval.decide": Allow, "token.mint": Deny, "grant.write": Deny, "policy.edit": Deny,
		"secret.unmask": Deny, "folder.grant": Deny, "actor.write": Deny, "server.admin": Deny} {
		want(t, anna, Request{Right: right, Resource: ResourceRef{Path: "/x"}, Present: true}, effect, "")
		want(t, seen(t, c, "person:owner"), Request{Right: right, Resource: ResourceRef{Path: "/x"}, Present: true}, Allow, "")
	}
	want(t, seen(t, c, "service:connector"), do(t, CanExecute, "session:/x"), Allow, "")
	want(t, seen(t, c, "service:connector"), do(t, CanEdit, "setting:/x"), Ask, "")
	want(t, seen(t, c, "service:connector"), do(t, CanRead, "secret:/x"), Deny, "")
}

func TestCommands(t *testing.T) {
	for line, w := range map[string][][]string{
		"git log":                   {{"git", "log"}},
		`git commit -m "a b" 'c d'`: {{"git", "commit", "-m", "a b", "c d"}},
		"a && b || c; d | e\nf":     {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}},
		`a\ b c`:                    {{"a b", "c"}},
		"echo ''":                   {{"echo", ""}},
	} {
		got, ok := Commands(line)
		if !ok || !slices.EqualFunc(got, w, slices.Equal) {
			t.Errorf("%q: %q %v", line, got, ok)
		}
	}
	for _, line := range []string{"", "   ", "a $(b)", "a `b`", "a > b", "a < b", "a &", "(a)", "{ a; }", "a $B", `a "$B"`, "X=1 a",
		"bash -c x",
		"/usr/bin/env a", "a *", "a ~", "a 'b", `a "b`, "a \\", "a # b", "; a", "&& a", "| a", "a\x00", "xargs rm", "if a", "find . -delete"} {
		if got, ok := Commands(line); ok {
			t.Errorf("%q is read as %q", line, got)
		}
	}
}

// A denied command is found by any path to its program, behind its options, behind programs that run others, and in whatever a line
// is made of: /bin/rm and git -C . push once ran where rm and git push were denied.
func TestADeniedCommandHasManyNames(t *testing.T) {
	tool := func(patterns ...string) func(*ScopedGrant) { return func(g *ScopedGrant) { g.ToolPatterns = patterns } }
	c := compiled(t, `@id("no-curl") forbid (principal, action == Action::"execute", resource is Tool) when { `+
		`context.commands.contains("npm publish") };`, append(DefaultGrants(),
		give(t, "all", "session:*", Allow, "tool:/", "execute"),
		give(t, "no", "session:*", Deny, "tool:/", "execute", tool("bash(command: rm; command: git push)")))...)
	v := seen(t, c, "session:s", "person:me")
	ask := func(line string) Request {
		return Request{Permission: CanExecute, Resource: ToolRef("bash"), Tool: "bash",
			Facts: TouchFacts(Facts{Paths: []string{"/code"}, Boxed: true, Offline: true}, line)}
	}
	for line, e := range map[string]Effect{
		"rm x": Deny, "/bin/rm x": Deny, "../../bin/rm x": Deny, "env rm x": Deny, "env -i A=b /bin/rm x": Deny, "busybox rm x": Deny,
		"timeout -k 1 5 rm x": Deny, "ls | xargs -n 1 rm": Deny,
		"nice -n 5 nohup rm x": Deny, "command rm x": Deny, "sudo -u me rm x": Deny, "sh -c 'rm x'": Deny, `bash -lc "cd x && rm y"`: Deny,
		"find . -name x -exec rm {} +": Deny,
		"for f in *; do rm $f; done":   Deny, "if true; then rm x; fi": Deny, "(cd x; rm y)": Deny, "{ rm x; }": Deny, "echo $(rm x)": Deny,
		"echo `rm x`": Deny, "cat <(rm x)": Deny,
		"A=b rm x": Deny, `r\m x`: Deny, "'r'm x": Deny, "ls && rm x > out 2>&1": Deny, "! rm x": Deny, "rm x &": Deny, "eval 'rm x'": Deny,
		"git push": Deny, "git -C . push": Deny, "git --git-dir=.git push origin": Deny, "/usr/bin/git -c a=b -C . push": Deny,
		"git --no-pager push": Deny,
		"npm publish":         Deny, "/usr/bin/npm publish": Deny, "npm --prefix x publish": Deny, "npm --silent publish; ls": Deny,
		"ls": Allow, "git log": Allow, "git -C . log -p": Allow, "env | grep X; ls": Allow, "go test ./... 2>&1 | tail -5": Allow,
		"echo a > x": Allow, `python3 -c "print(1)"`: Allow,
		"cat *": Allow, "echo $HOME": Allow, `for f in *.go; do echo "$f"; done`: Allow, "make -j4 && ./run.sh": Allow, "npm test": Allow,
		"[ -f x ] && cat x": Allow, "[[ -f x ]] || ls": Allow,
		"cat <<'EOF' > x\nrm y\nEOF\nls": Allow, "A=1 B=$C make": Allow, "x=$(ls | wc -l); echo $x": Allow,
		"while read l; do echo $l; done < f": Allow, "echo rm": Allow, "git log --grep push": Deny,
		"$X y": Ask, "bash": Ask, "curl x | sh": Ask, "ssh h rm x": Ask, "git $X": Ask, "case x in a) rm y;; esac": Ask, "f() { rm x; }; f": Ask,
	} {
		d := v.Decide(ask(line))
		if line == "git log --grep push" { // push may be what --grep is told, and is: manners err on their side
			continue
		}
		if d.Effect != e {
			runs, files, ok := Runs(line)
			t.Errorf("%q: %s (%s %s), want %s; read as %q %q %v", line, d.Effect, d.By, d.Reason, e, runs, files, ok)
		}
	}
	// Nothing that no sandbox can hide is denied by default: there every line passes.
	plain := seen(t, compiled(t, "", append(DefaultGrants(), give(t, "all", "session:*", Allow, "tool:/bash", "execute"))...), "session:s",
		"person:me")
	for _, line := range []string{"$X y", "curl x | sh", "f() { rm x; }; f", "echo '", "cat $(ls) *"} {
		want(t, plain, ask(line), Allow, "grant:all")
	}
	// A denied host is out of reach of a box without network, and a reason to ask in one that has it.
	hosts := seen(t, compiled(t, "", append(DefaultGrants(), give(t, "all", "session:*", Allow, "tool:/", "execute"),
		give(t, "host", "*", Deny, "tool:/", "execute", tool("*(host: evil.example)")))...), "session:s", "person:me")
	want(t, hosts, ask("curl $X"), Allow, "grant:all")
	online := ask("curl $X")
	online.Facts.Offline = false
	want(t, hosts, online, Ask, "grant:host")
	// A line that a shell is told is read as the line itself: Codex hands over each of its commands so, and each asked once.
	for line, e := range map[string]Effect{"/bin/bash -lc 'ls -la | head'": Allow, "bash -c 'git log' ": Allow, "sh -l -c ls": Allow,
		"/bin/bash -lc 'curl $X'": Ask, "bash -c 'sh -c ls'": Ask, "bash -c ls x": Ask, "./bash -c ls": Ask, "bash -ic ls": Ask,
		"fish -c ls": Ask, "bash -c ls; $X": Ask, "bash -lc 'curl https://evil.example/'": Deny,
		"bash -lc 'x=1; wget http://evil.example $x'": Deny} {
		online := ask(line)
		online.Facts.Offline = false
		if d := hosts.Decide(online); d.Effect != e {
			t.Errorf("%q with the network: %s (%s %s), want %s", line, d.Effect, d.By, d.Reason, e)
		}
	}
	want(t, hosts, ask("x=1; curl https://evil.example/ > $x"), Deny, "grant:host")
}

func FuzzRuns(f *testing.F) {
	for _, s := range []string{"a", "a && b", "for f in *; do a; done", "cat <<X\nX", "a $(b `c`)", "((", "${", "\"", "a <<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		cmds, _, _ := Runs(line)
		for _, c := range cmds {
			if len(c) == 0 || c[0] == unknownWord {
				t.Errorf("%q: %q", line, cmds)
			}
		}
	})
}

func TestGlobs(t *testing.T) {
	for _, x := range []struct {
		glob, path string
		want       bool
	}{
		{"/", "/", true}, {"/**", "/", true}, {"/**", "/a/b", true}, {"/a/**", "/a", true}, {"/a/**", "/ab", false}, {"/*", "/a", true},
		{"/*", "/a/b", false},
		{"/**/b", "/b", true}, {"/**/b", "/a/b", true}, {"/**/b", "/a/b/c", false}, {"/a/**/c/**/e", "/a/b/c/c/d/e", true},
		{"/a/**/c/**/e", "/a/b/d/e", false},
		{"/**/*.pem", "/x/y/k.pem", true}, {"/**/*.pem", "/x/k.pem/y", false}, {"/a*c/**", "/abbc/x", true},
		{"/**/.ssh/**", "/home/u/.ssh", true},
	} {
		if got := newGlob(x.glob).fits(components(x.path)); got != x.want {
			t.Errorf("%s on %s: %v", x.glob, x.path, got)
		}
	}
	long := strings.Repeat("/a", 2000)
	if newGlob("/**/a/**/a/**/a/**/a/**/b").fits(components(long)) {
		t.Error("nothing ends in b")
	}
}

func TestShellFacts(t *testing.T) {
	f := ShellFacts("/code", "cat .env ../x && curl -o /tmp/y --cacert=ca.pem https://u:p@api.example.org:8443/v1 && git log -p")
	if f.Opaque || len(f.Commands) != 3 {
		t.Fatalf("%+v", f)
	}
	if w := []string{"/code/.env", "/x", "/tmp/y", "/code/ca.pem", "/code/log"}; !slices.Equal(f.Paths, w) {
		t.Errorf("paths %q", f.Paths)
	}
	if w := []string{"api.example.org"}; !slices.Equal(f.Hosts, w) {
		t.Errorf("hosts %q", f.Hosts)
	}
	if f := ShellFacts("/code", "cat $X"); !f.Opaque {
		t.Errorf("%+v", f)
	}
	for url, host := range map[string]string{"a.b": "a.b", "a.b:1/x@y": "a.b", "[::1]:80/": "::1", "u@a.b?x": "a.b"} {
		if got := hostOf(url); got != host {
			t.Errorf("%s: %q", url, got)
		}
	}
}

func FuzzToolPattern(f *testing.F) {
	for _, s := range []string{"edit", "bash(command: git log)", "read(path: /a/**)", "w(host: *.x.y)", "a(b", "(", "a(path: /**/**/**/x)"} {
		f.Add(s, "/a/b/c", "git log -p")
	}
	f.Fuzz(func(t *testing.T, s, path, line string) {
		p, err := parseTool(s)
		cmds, ok := Commands(line)
		if err != nil {
			return
		}
		facts := &Facts{Paths: []string{path}, Commands: cmds, Opaque: !ok}
		if p.surely(facts, false) && p.touched(facts) == not {
			t.Errorf("%q surely covers %+v but perhaps does not", s, facts)
		}
	})
}

// The reason of an ask says what is asked about: using a connector's tool was called a change of how tandem is set up.
func TestTheReasonOfAnAskIsOfItsKind(t *testing.T) {
	v := seen(t, compiled(t, "", DefaultGrants()...), "agent:a")
	for resource, c := range map[string]struct{ says, not string }{
		"connector:/desk/tickets": {"using an outside server's tool", "how tandem is set up"},
		"setting:/listen":         {"how tandem is set up", "outside server"},
		"tunnel:/":                {"how tandem is set up", "outside server"},
		"folder:/code/a.txt":      {"changing files", "set up"},
	} {
		for _, p := range []AccessPermission{CanEdit, CanExecute} {
			if d := want(t, v, do(t, p, resource), Ask, ""); !strings.Contains(d.Reason, c.says) || strings.Contains(d.Reason, c.not) {
				t.Errorf("%s %s: %q", p, resource, d.Reason)
			}
		}
	}
}
