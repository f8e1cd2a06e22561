package spec

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mail(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/mail.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestADefinitionIsRead(t *testing.T) {
	a, err := Read([]byte(mail(t)))
	if err != nil {
		t.Fatal(err)
	}
	if a.Limits.Items != 100 || a.Nodes[2].Retry.Attempts != 3 || a.Nodes[0].Retry.Attempts != 1 || a.Triggers[0].Misfire != "once" {
		t.Errorf("defaults are not filled in: %+v", a.Limits)
	}
	for id, want := range map[string]string{"collect": "", "sum": "collect", "draft": "sum", "look": "draft", "how": "draft look",
		"quiet": "how", "now": "draft how"} {
		if got := strings.Join(a.Needs()[id], " "); got != want {
			t.Errorf("%s needs %q, not %q", id, got, want)
		}
	}
	if err := a.Inputs["week"].Accepts("47"); err != nil {
		t.Error(err)
	}
	if err := a.Inputs["week"].Accepts(47.0); err == nil {
		t.Error("a number was taken for a text")
	}
}

// What a definition means has one digest, however it is written; a change of meaning has another.
func TestTheDigestIsThatOfTheMeaning(t *testing.T) {
	digest := func(text string) string {
		a, err := Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return a.Digest()
	}
	text := mail(t)
	for what, same := range map[string]string{
		"a comment":           strings.Replace(text, "[limits]", "# how far\n[limits]", 1),
		"a default in words":  strings.Replace(text, "[limits]\n", "[limits]\nitems = 100\n", 1),
		"another spelling":    strings.Replace(text, `time = "5d"`, `time = "120h"`, 1),
		"the order of a case": strings.Replace(text, `urgent = ["now"], plain = ["quiet"]`, `plain = ["quiet"], urgent = ["now"]`, 1),
	} {
		if same == text || digest(same) != digest(text) {
			t.Errorf("%s changes the digest, or is not there", what)
		}
	}
	for what, other := range map[string]string{
		"a limit":  strings.Replace(text, `time = "5d"`, `time = "4d"`, 1),
		"a prompt": strings.Replace(text, "in one line", "in two lines", 1),
		"a tool":   strings.Replace(text, `folders = ["reports"]`, `folders = ["reports", "notes"]`, 1),
		"a schema": strings.Replace(text, `["plain", "urgent"]`, `["urgent", "plain"]`, 1),
	} {
		if other == text || digest(other) == digest(text) {
			t.Errorf("%s does not change the digest, or is not there", what)
		}
	}
}

// Each row is the mail with one thing wrong, and the words that say so.
func TestWhatIsWrongIsSaid(t *testing.T) {
	for _, c := range []struct{ from, to, where, says string }{
		{`name = "weekly-mail"`, `name = "Weekly Mail"`, "", "small letters"},
		{`profile = "guided"`, `profile = "yolo"`, "", "strict, guided or free"},
		{`cost = 3.0`, `cost = -1.0`, "limits", "cost is -1"},
		{`cost = 3.0`, `cots = 3.0`, "", `nobody knows the key "limits.cots"`},
		{`cost = 3.0`, `cost = `, "line 11", "expected"},
		{`time = "5d"`, `time = "soon"`, "line 12", "no length of time"},
		{`every monday at 9:00`, `every moonday`, "trigger monday", ""},
		{`Europe/Berlin`, `Mars/Olympus`, "trigger monday", "no time zone"},
		{`webhook = "github"`, `webhook = "carrier-pigeon"`, "trigger pushed", "no scheme"},
		{`webhook = "github"`, "webhook = \"github\"\nevent = \"board.claim\"", "trigger pushed", "2 causes"},
		{`id = "pushed"`, `id = "monday"`, "trigger monday", "no other trigger"},
		{`id = "quiet"`, `id = "draft"`, "node draft", "two nodes"},
		{`id = "quiet"`, `id = "input"`, "node 6", "not input or item"},
		{`name = "board.list"`, `name = "board list"`, "node collect", "no name of an operation"},
		{`tasks = "collect.tasks" }`, `tasks = "collect.task" }`, "node sum", "no output task"},
		{`tasks = "collect.tasks" }`, `tasks = "gather.tasks" }`, "node sum", "no other node"},
		{`week = "input.week"`, `week = "input.year"`, "node draft", "no input year"},
		{`{{item}}`, `{{thing}}`, "node sum", "{{thing}} is none"},
		{`{{week}}`, `{{item}}`, "node draft", "{{item}} is none"},
		{`over = "collect.tasks"`, `over = "input.week"`, "node sum", "no list"},
		{`max = 50`, `max = 5000`, "node sum", "limit of items"},
		{`max = 50`, `max = 0`, "node sum", "between 1"},
		{`parallel = 2`, `parallel = 20`, "node sum", "map.parallel"},
		{`attempts = 3`, `attempts = 30`, "node draft", "the limit is 5"},
		{`"unavailable", "check"`, `"unknown"`, "node draft", "no class"},
		{`wait = "5s"`, `wait = "5h"`, "node draft", "longer than the longest"},
		{`agent = "claude"`, `agent = "hal"`, "node draft", "no agent"},
		{`agent = "claude"`, "agent = \"claude\"\nmodel = \"x/y\"", "node draft", "not both"},
		{`folders = ["reports"]`, `folders = ["*"]`, "node draft", "named in full"},
		{`artifact = "markdown"`, `artifact = "exe"`, "node draft", "no kind of artifact"},
		{`checks = ["no-secrets"]`, `checks = ["fine"]`, "node draft", "no check"},
		{`shows = ["draft.mail"]`, `shows = []`, "node look", "shows what it is about"},
		{`shows = ["draft.mail"]`, `shows = ["draft.mail.to"]`, "node look", "no fields"},
		{`rework = "draft"`, `rework = "now"`, "node look", "does not come before"},
		{`rework = "draft"`, `rework = "how"`, "node look", "no node that does work"},
		{`on_expiry = "remind"`, `on_expiry = "escalate"`, "node look", "to nobody"},
		{`on_expiry = "remind"`, `on_expiry = "resume"`, "node look", "cancel, escalate or remind"},
		{`expires = "2d"`, `expires = "9d"`, "node look", "longer than a run"},
		{`on = "draft.tone"`, `on = "draft.mail"`, "node how", "is an artifact"},
		{`on = "draft.tone"`, `on = "input.week"`, "node how", "can be anything"},
		{`urgent = ["now"]`, `urgent = ["never"]`, "node how", "no other node"},
		{`urgent = ["now"]`, `loud = ["now"]`, "node how", `never "loud"`},
		{`urgent = ["now"], `, ``, "node how", `"urgent" leads nowhere`},
		{"[node.wait]\nfor = \"1h\"", "[node.wait]", "node quiet", "waits for nothing"},
		{`for = "1h"`, "for = \"1h\"\nwebhook = \"pushed\"", "node quiet", "for and webhook"},
		{`for = "1h"`, `webhook = "monday"`, "node quiet", "no webhook trigger"},
		{`for = "1h"`, `for = "100d"`, "node quiet", "longer than a run"},
		{`{ tasks = "collect.tasks" }`, `{ tasks = "collect.tasks", late = "draft.tone" }`, "", "sum → draft → sum"},
		{"[node.wait]\nfor = \"1h\"", "", "node quiet", "it is nothing"},
		{"[node.wait]", "[node.command]\nrun = [\"true\"]\n[node.wait]", "node quiet", "command and wait"},
		{"type = \"string\"\ndescription", "\"$ref\" = \"https://example.com/x\"\ndescription", "", "$ref"},
	} {
		text := mail(t)
		wrong := strings.Replace(text, c.from, c.to, 1)
		if wrong == text {
			t.Errorf("%q is not in the mail", c.from)
			continue
		}
		_, err := Read([]byte(wrong))
		var all Problems
		if !errors.As(err, &all) {
			t.Errorf("%q: taken", c.to)
			continue
		}
		if !slices.ContainsFunc(all, func(p Problem) bool { return strings.HasPrefix(p.Where, c.where) && strings.Contains(p.Text, c.says) }) {
			t.Errorf("%q: %q, not %s: …%s…", c.to, err, c.where, c.says)
		}
	}
}

// All that is wrong is said at once.
func TestEverythingWrongIsSaidAtOnce(t *testing.T) {
	text := strings.NewReplacer(`max = 50`, `max = 0`, `agent = "claude"`, `agent = "hal"`, `"board.list"`, `"x"`).Replace(mail(t))
	_, err := Read([]byte(text))
	var all Problems
	if !errors.As(err, &all) || len(all) != 3 {
		t.Errorf("%d problems: %v", len(all), err)
	}
}

// A definition of nodes that need earlier ones alone is taken; turning one edge round, when that closes a ring, is refused.
func TestRingsAreFound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(r, "nodes")
		after := make([][]int, n)
		for i := 1; i < n; i++ {
			after[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, i, rapid.ID[int]).Draw(r, "after")
		}
		if _, err := Read([]byte(graph(after))); err != nil {
			r.Fatalf("%v\n%s", err, graph(after))
		}
		last := rapid.IntRange(1, n-1).Draw(r, "last")
		if len(after[last]) == 0 {
			return
		}
		first := after[last][0]
		after[first] = append(after[first], last)
		if _, err := Read([]byte(graph(after))); err == nil || !strings.Contains(err.Error(), "wait for each other") {
			r.Fatalf("a ring was taken: %v\n%s", err, graph(after))
		}
	})
}

func graph(after [][]int) string {
	var b strings.Builder
	b.WriteString("name = \"g\"\n")
	name := func(i int) string { return "n" + string(rune('a'+i)) }
	for i, needs := range after {
		b.WriteString("[[node]]\nid = \"" + name(i) + "\"\nafter = [")
		for _, j := range needs {
			b.WriteString("\"" + name(j) + "\",")
		}
		b.WriteString("]\n[node.command]\nrun = [\"true\"]\n")
	}
	return b.String()
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(mail(f)))
	f.Add([]byte("name = \"x\"\n[[node]]\nid = \"a\"\n[node.wait]\nuntil = 2026-01-01T00:00:00Z\n"))
	f.Add([]byte("inputs = 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := Read(data)
		var all Problems
		if err != nil && (!errors.As(err, &all) || len(all) == 0) {
			t.Fatalf("an error that is no list of problems: %v", err)
		}
		if err == nil && len(a.Digest()) != 64 {
			t.Fatal("no digest")
		}
	})
}

// A value that stands within code was run as code: "echo hello {{w}}" with "x; id". It has to arrive as an argument.
func TestAValueIsDataAndNotCode(t *testing.T) {
	for line, fine := range map[string]bool{
		`"sh", "-c", "echo hello {{w}}"`:                          false,
		`"sh", "-c", "{{w}}"`:                                     false,
		`"/bin/bash", "-ec", "echo {{w}}"`:                        false,
		`"bash", "-lc", "echo '{{w}}'"`:                           false,
		`"env", "A=1", "sh", "-c", "echo {{w}}"`:                  false,
		`"timeout", "5", "python3.12", "-c", "print({{w}})"`:      false,
		`"perl", "-e", "print {{w}}"`:                             false,
		`"node", "--eval={{w}}"`:                                  false,
		`"node", "--eval", "{{w}}"`:                               false,
		`"sh", "-c{{w}}"`:                                         false,
		`"awk", "{ print {{w}} }"`:                                false,
		`"{{w}}", "x"`:                                            false,
		`"env", "-S", "{{w}}"`:                                    false,
		`"tar", "--to-command={{w}}", "-xf", "a.tar"`:             false,
		`"git", "-c", "{{w}}", "status"`:                          false,
		`"git", "grep", "-O{{w}}"`:                                false,
		`"watch", "{{w}}"`:                                        false,
		`"vim", "-c", "{{w}}"`:                                    false,
		`"npm", "exec", "-c", "{{w}}"`:                            false,
		`"rsync", "-e", "{{w}}", "a", "b:"`:                       false,
		`"sort", "--compress-program={{w}}"`:                      false,
		`"sqlite3", "db", "{{w}}"`:                                false,
		`"psql", "-c", "{{w}}"`:                                   false,
		`"pwsh", "-Command", "{{w}}"`:                             false,
		`"git", "log", "--grep", "{{w}}"`:                         true,
		`"find", ".", "-name", "{{w}}"`:                           true,
		`"curl", "--", "{{w}}"`:                                   true,
		`"sh", "-c", "echo hello \"$1\"", "sh", "{{w}}"`:          true,
		`"sh", "script.sh", "{{w}}"`:                              true,
		`"cat", "{{w}}"`:                                          true,
		`"grep", "-c", "{{w}}", "notes.txt"`:                      true,
		`"python3", "-c", "import sys; print(sys.argv)", "{{w}}"`: true,
	} {
		text := "name = \"hello\"\n[inputs.who]\ntype = \"string\"\n[[node]]\nid = \"say\"\ninputs = { w = \"input.who\" }\n" +
			"[node.command]\nrun = [" + line + "]\n"
		_, err := Read([]byte(text))
		if fine && err != nil || !fine && (err == nil || !strings.Contains(err.Error(), "node say")) {
			t.Errorf("%s: %v", line, err)
		}
		if _, err := Kept([]byte(text)); err != nil {
			t.Errorf("%s, stored before: %v", line, err)
		}
	}
}

// A value that begins with a dash was an option of tar, git or make, and some of their options run what they say.
func TestAValueIsNoOption(t *testing.T) {
	for line, bare := range map[string]bool{
		"tar -xf a.tar {{w}}": true, "git log {{w}}": true, "make {{w}}": true, "env A=1 tar {{w}}": true, "/usr/bin/find {{w}}": true,
		"tar -xf a.tar -- {{w}}": false, "tar -xf {{w}}": false, "git log v{{w}}": false, "git log": false, "git commit -m {{w}}": false,
		"sh -c x sh {{w}}": false, "bash -ec x {{w}}": false, "python3 -c x {{w}}": false, "env A=1 sh -c x sh {{w}}": false,
		// most options take no value, and what is no program's place is only a word
		"curl -s {{w}}": true, "wget -q {{w}}": true, "rsync -a {{w}} out/": true, "git grep -n {{w}}": true, "git fetch -q {{w}}": true,
		"git log --oneline {{w}}": true, "tar -x {{w}}": true, "npm run script {{w}}": true, "git log --grep node x {{w}}": true,
		"rg {{w}}": true, "pandoc -s {{w}}": true, "echo {{w}}": true, "env sh s.sh {{w}}": true, "node -e x {{w}}": true,
		// whose "--" it is
		"timeout 5 -- tar {{w}}": true, "env -u A -- tar {{w}}": true, "env -- tar -- {{w}}": false, "nice -n 5 git log -- {{w}}": false,
		"git commit -m -- {{w}}": true, "timeout {{w}} tar x": true,
	} {
		c := Command{Run: strings.Fields(line)}
		at := slices.Index(c.Run, "{{w}}")
		if at < 0 {
			at = len(c.Run) - 1
		}
		if got := c.Bare(at); got != bare {
			t.Errorf("%s: %t", line, got)
		}
	}
}

// Patterns of files name paths below a folder.
func TestPatternsOfFiles(t *testing.T) {
	for pattern, cases := range map[string]map[string]bool{
		"*.csv":        {"a.csv": true, "in/a.csv": false, "a.txt": false},
		"**/*.csv":     {"a.csv": true, "in/deep/a.csv": true, "a.csv/x": false},
		"src/**":       {"src/a": true, "src/b/c": true, "other": false},
		"src/**/x/*.c": {"src/x/a.c": true, "src/p/q/x/a.c": true, "src/x/y/a.c": false},
		"**":           {"a": true, "a/b/c": true},
		"[ab]?.go":     {"a1.go": true, "c1.go": false},
	} {
		tr := &Trigger{Files: pattern}
		for name, want := range cases {
			if got := tr.Fits(name); got != want {
				t.Errorf("%s and %s: %v", pattern, name, got)
			}
		}
	}
	const text = "name = \"x\"\n[[trigger]]\nfiles = %q\nfolder = %q\n%s\n[[node]]\nid = \"a\"\n[node.wait]\nfor = \"1s\"\n"
	for _, bad := range [][3]string{{"../x", "/srv", ""}, {"/x", "/srv", ""}, {"[", "/srv", ""}, {"x", "srv", ""},
		{"x", "/srv", `quiet = "2h"`}} {
		if _, err := Read([]byte(fmt.Sprintf(text, bad[0], bad[1], bad[2]))); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
	if _, err := Read([]byte(fmt.Sprintf(text, "**/*.go", "/srv", `quiet = "5s"`))); err != nil {
		t.Error(err)
	}
}
