package policy

import "testing"

func TestSuggestions(t *testing.T) {
	for _, c := range []struct {
		name, tool, shell string
		paths, hosts      []string
		opaque            bool
		want, inFolder    string
		like, unlike      string // shell lines
	}{
		{name: "a command with its verb", tool: "bash", shell: "git log --oneline", paths: []string{"/c"}, want: "bash(command: git log)",
			inFolder: "bash(command: git log; path: /c; path: /c/**)", like: "git log -p", unlike: "git push"},
		{name: "a pipe", tool: "bash", shell: "ls -l | head", paths: []string{"/c"}, want: "bash(command: ls; command: head)",
			inFolder: "bash(command: ls; command: head; path: /c; path: /c/**)",
			like:     "head x; ls", unlike: "ls | sort"},
		{name: "what runs others", tool: "bash", shell: "env x", paths: []string{"/c"}},
		{name: "a shell with more than a line", tool: "bash", shell: "sh -c x y", paths: []string{"/c"}},
		{name: "a shell that somebody made", tool: "bash", shell: "./bash -c 'git log'", paths: []string{"/c"}},
		{name: "a line in a shell", tool: "bash", shell: "/bin/bash -lc 'git log -p'", paths: []string{"/c"}, want: "bash(command: git log)",
			inFolder: "bash(command: git log; path: /c; path: /c/**)", like: "sh -c 'git log'", unlike: "bash -lc 'git push'"},
		{name: "a substitution", tool: "bash", shell: "echo $(id)", paths: []string{"/c"}},
		{name: "a file", tool: "write", paths: []string{"/c/src/a.go"}, want: "write(path: /c/src/**)", inFolder: "write(path: /c/src/**)"},
		{name: "two files", tool: "apply_patch", paths: []string{"/c/a", "/c/b/x"}, want: "apply_patch(path: /c/**; path: /c/b/**)",
			inFolder: "apply_patch(path: /c/**; path: /c/b/**)"},
		{name: "an odd name", tool: "write", paths: []string{"/c/a;b/x"}},
		{name: "a host", tool: "webfetch", hosts: []string{"Example.org"}, want: "webfetch(host: example.org)"},
		{name: "a connector", tool: "mcp.mail.send", want: "mcp.mail.send"},
		{name: "a connector's tool that is a pattern", tool: "mcp.names.*"},
		{name: "a tool with a bracket", tool: "mcp.names.a[b]"},
		{name: "a host that is a pattern", tool: "webfetch", hosts: []string{"*.com"}},
		{name: "one host of two is a pattern", tool: "webfetch", hosts: []string{"example.org", "?.com"}},
		{name: "an address", tool: "webfetch", hosts: []string{"::1"}, want: "webfetch(host: ::1)"},
		{name: "nobody knows", tool: "webfetch", opaque: true},
	} {
		f := TouchFacts(Facts{Paths: c.paths, Hosts: c.hosts, Opaque: c.opaque}, c.shell)
		got, in := Suggest(c.tool, f), SuggestIn(c.tool, f)
		if got != c.want || in != c.inFolder {
			t.Errorf("%s: %q and %q", c.name, got, in)
		}
		if got != "" && !ToolCovers(got, c.tool, f) || ToolCovers(got, "other", f) {
			t.Errorf("%s: %q does not cover what it was made from, or more", c.name, got)
		}
		if c.like != "" && (!ToolCovers(got, c.tool, TouchFacts(Facts{Paths: c.paths}, c.like)) ||
			ToolCovers(got, c.tool, TouchFacts(Facts{Paths: c.paths}, c.unlike))) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	// A line that cannot be read, kept in a folder by a sandbox: always, there.
	f := TouchFacts(Facts{Paths: []string{"/c/sub"}, Within: []string{"/c"}}, "for f in *; do cat $f; done")
	if s := SuggestIn("bash.exposed", f); s != "bash.exposed(path: /c/**)" || !ToolCovers(s, "bash.exposed", f) {
		t.Errorf("%q", s)
	}
	if ToolCovers("bash.exposed(path: /c/**)", "bash.exposed",
		TouchFacts(Facts{Paths: []string{"/c/sub"}, Within: []string{"/c", "/d"}}, "cat $f")) ||
		ToolCovers("bash.exposed(path: /c/**)", "bash.exposed", TouchFacts(Facts{Paths: []string{"/c/sub"}}, "cat $f")) {
		t.Error("a rule for a folder covers what may leave it")
	}
	if f := TouchFacts(Facts{Paths: []string{"/c"}}, "git log /etc/passwd"); SuggestIn("bash", f) != "" {
		t.Error("a call that leaves the folder has a rule for the folder")
	}
}
