package loop

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/testenv"
	"tandem/internal/tool"
)

// "make the tests pass", as the README has it, with the toolchains of this machine. The box knew three folders of programs and an empty
// home: `go: command not found`, no compiler cache, no rustup. Each project has a test that fails, the model runs it, mends the code and
// runs it again, in the box, without a question.
func TestMakeTheTestsPass(t *testing.T) {
	for _, c := range []struct {
		name, program, run string
		files              map[string]string
		fix, good          string
		passed             string
	}{
		{"go", "go", "go vet ./... && go test ./... 2>&1 | tail -5",
			map[string]string{"go.mod": "module m\n\ngo 1.21\n", "m.go": "package m\n\nfunc Add(a, b int) int { return a - b }\n",
				"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, " +
					"2) != 3 {\n\t\tt.Fatal(Add(1, 2))\n\t}\n}\n"},
			"m.go", "package m\n\nfunc Add(a, b int) int { return a + b }\n", "ok  \tm"},
		{"cargo", "cargo", "cargo test 2>&1 | tail -8",
			map[string]string{"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
				"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { a - b }\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n"},
			"src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n", "test result: ok"},
		{"node", "npm", "npm test --silent 2>&1 | grep -E '^.? ?(pass|fail)'",
			map[string]string{"package.json": `{"name":"m","version":"1.0.0","scripts":{"test":"node --test"}}`,
				"add.js": "exports.add = (a, b) => a - b\n",
				"add.test.js": "const test = require('node:test'); const assert = require('node:assert');\ntest('adds', " +
					"() => assert.equal(require('./add.js').add(1, 2), 3));\n"},
			"add.js", "exports.add = (a, b) => a + b\n", "fail 0"},
		{"python", "python3", "python3 -m pytest -q test_m.py 2>/dev/null || python3 -m unittest -v test_m 2>&1 | tail -3",
			map[string]string{"m.py": "def add(a, b):\n    return a - b\n",
				"test_m.py": "import unittest\nfrom m import add\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        " +
					"self.assertEqual(add(1, 2), 3)\n"},
			// Of another size: Python knows a changed file by its size and the second of its change, and this one changes in the same second.
			"m.py", "def add(a, b):\n    return sum([a, b])\n", "OK|1 passed"},
		{"make and C", "cc", "make -s test", map[string]string{"add.c": "int add(int a, int b) { return a - b; }\n",
			"test.c": "#include <stdio.h>\nint add(int, int);\nint main(void) { if (add(1, 2) != 3) { puts(\"wrong\"); return 1; " +
				"} puts(\"right\"); return 0; }\n",
			"Makefile": "test: t\n\t./t\nt: add.c test.c\n\t$(CC) -o t add.c test.c\n"},
			"add.c", "int add(int a, int b) { return a + b; }\n", "right"},
		{"java", "javac", "javac -d out *.java && java -cp out T",
			map[string]string{"M.java": "class M { static int add(int a, int b) { return a - b; } }\n",
				"T.java": "class T { public static void main(String[] a) { if (M.add(1, 2) != 3) throw new Error(\"wrong\"); " +
					"System.out.println(\"right\"); } }\n"},
			"M.java", "class M { static int add(int a, int b) { return a + b; } }\n", "right"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil {
				t.Fatalf("%s is missing: run make test-tools", c.program)
			}
			h := newHouseWith(t, "", tool.Bubblewrap)
			h.box.Kit = tool.FindKit(os.Getenv("HOME"), os.Getenv("PATH"), filepath.Join(filepath.Dir(h.dir), "caches"))
			h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
			h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "folder:" + h.dir, Permissions: []string{"read", "edit"}})
			for name, text := range c.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				h.write(name, text)
			}
			s := h.session()
			say := func(tool string, a args) string {
				raw, err := json.Marshal(a)
				if err != nil {
					t.Fatal(err)
				}
				turn := h.prompt(s, "make the tests pass [[tool "+tool+" "+string(raw)+"]] [[result]]")
				ends := testenv.Within(4*time.Minute, func() bool {
					if turn, err = h.room.Turn(t.Context(), "local", turn.ID); err != nil {
						t.Fatal(err)
					}
					return turn.State == session.Waiting || turn.State.Ended()
				})
				if !ends || turn.State == session.Waiting {
					t.Fatalf("the turn is %s (%s)", turn.State, turn.Reason)
				}
				return h.said(s)
			}
			passes := func(said string) bool {
				for word := range strings.SplitSeq(c.passed, "|") {
					if strings.Contains(said, word) {
						return true
					}
				}
				return false
			}
			if said := say("bash", args{"command": c.run, "timeout": 240}); passes(said) || strings.Contains(said, "not found") {
				t.Fatalf("before: %s", said)
			}
			say("write", args{"path": c.fix, "content": c.good})
			if said := say("bash", args{"command": c.run, "timeout": 240}); !passes(said) {
				t.Fatalf("after: %s", said)
			}
		})
	}
}

// What tools keep of a person's sign-ins is not among what commands are shown.
func TestAToolsHomeStaysHome(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{".cargo/credentials.toml": "SECRET", ".cargo/bin/cargo": "#!/bin/sh\necho ran",
		".cargo/registry/x": "crate", ".m2/settings.xml": "SECRET", ".m2/repository/y": "jar",
		".npmrc": "SECRET", ".nvm/versions/node/v1/bin/node": "#!/bin/sh\necho node", ".nvm/alias": "SECRET",
		".local/bin/uv": "#!/bin/sh\necho uv", ".local/share/keep": "SECRET",
		".pyenv/version": "3.1\n", ".pyenv/versions/3.1/bin/python3": "#!/bin/sh\necho python", ".pyenv/shims/python3": "#!/bin/sh\necho SECRET",
		".rustup/toolchains/t": "t", ".rustup/settings.toml": "x"} {
		p := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h := newHouseWith(t, "", tool.Bubblewrap)
	path := strings.Join([]string{home + "/.cargo/bin", home + "/.nvm/versions/node/v1/bin", home + "/.local/bin", home + "/.pyenv/shims",
		"/usr/bin", "/bin"}, ":")
	h.box.Kit = tool.FindKit(home, path, filepath.Join(filepath.Dir(h.dir), "caches"))
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	got := h.call(h.session(), "bash", args{"command": "cargo; node; uv; python3; cat $CARGO_HOME/registry/x; grep -rs SECRE[T] " + home +
		" $CARGO_HOME $HOME; echo kept > $GOCACHE/k; touch $CARGO_HOME/registry/new " + home + "/.cargo/registry/new; echo end"})
	for _, want := range []string{"ran", "node", "uv", "python", "crate", "end"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s: %s", want, got)
		}
	}
	if strings.Contains(got, "SECRET") {
		t.Errorf("%s", got)
	}
	if _, err := os.Stat(home + "/.cargo/registry/new"); err == nil {
		t.Error("a command changed what the person downloaded")
	}
	// The caches of a folder are there for its next command, and for no other folder's.
	if got := h.call(h.session(), "bash", args{"command": "cat $GOCACHE/k"}); !strings.Contains(got, "kept") {
		t.Errorf("the cache is cold: %s", got)
	}
}
