// Package tandem holds no code: this folder is the checkout's root, and its tests guard the shape of the house.
package tandem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// A wall is one line of the map: a package and what it may import of this module, beside the ground.
// Paths are below internal/. "cli/*" is any folder one below cli. A word of groups stands for all its packages.
type wall struct {
	pkg     string
	may     string
	pure    bool // computes only: no files, network, database, processes
	planned bool // drawn in docs/ARCHITECTURE.md, not built yet
}

var groups = map[string]string{
	"spine": "identity policy policy/book approval journal secret",
	"wires": "resource/wire secret/wire tunnel/wire connector/wire inbox/wire session/wire schedule/wire automation/wire artifact/wire " +
		"pack/wire forge/wire memory/wire source/wire knowledge/wire contextrun/wire job/wire team/wire login/wire server/wire remote/wire",
	"rooms": "resource board space space/peer models session connector notify tunnel schedule automation artifact memory source knowledge " +
		"contextrun repo/host login",
}

// The map. To add a package, add a line; to move a wall, change one and update docs/ARCHITECTURE.md in the same commit.
var houseMap = []wall{
	// ground: imported by all, imports nobody above
	{pkg: "fault"},
	{pkg: "id"},
	{pkg: "wholefile"},
	{pkg: "logfile"},
	{pkg: "metric", pure: true},
	{pkg: "metric/metrictest", pure: true}, // tests only
	{pkg: "foreign", pure: true},
	{pkg: "spelling", pure: true},
	{pkg: "crowd", pure: true},
	{pkg: "stream"},
	{pkg: "lease", pure: true},
	{pkg: "told", pure: true},
	{pkg: "unified", pure: true},
	{pkg: "plot", pure: true},
	{pkg: "db"},
	{pkg: "op"},
	{pkg: "owner"},

	// spine: who may do what, and what happened
	{pkg: "identity", may: "secret login/device identity/assertion"}, // it checks what a person's machine elsewhere signed
	{pkg: "identity/assertion", pure: true},                          // what a control plane signed
	{pkg: "policy", pure: true},
	{pkg: "policy/vocabulary", may: "policy", pure: true}, // the published names of the same things
	{pkg: "policy/book", may: "policy policy/vocabulary"},
	{pkg: "approval"},
	{pkg: "journal"},
	{pkg: "secret", may: "secret/wire"},
	{pkg: "installation", may: "secret"}, // what makes folder, database and keys one
	{pkg: "backup", may: "wholefile"},    // the form of a copy

	// the one door
	{pkg: "gate", may: "spine"},
	{pkg: "gate/doortest", may: "spine gate"}, // tests only: what every door sits

	// what a room's operations take and answer, with their handles: no service
	{pkg: "server/wire", may: "identity settings"}, // settings are told with their origin
	{pkg: "server/health", may: "spine gate session installation client"},
	{pkg: "remote/wire"},
	{pkg: "resource/wire"},
	{pkg: "secret/wire"},
	{pkg: "tunnel/wire"},
	{pkg: "schedule/wire"},
	{pkg: "forge/wire"},
	{pkg: "job/wire", may: "forge/wire"}, // a job is read with its pull request
	{pkg: "automation/wire"},
	{pkg: "pack/wire"},
	{pkg: "team/wire", may: "job/wire"},
	{pkg: "artifact/wire"},
	{pkg: "memory/wire", may: "source/wire"}, // a search quotes passages of sources beside records
	{pkg: "source/wire"},
	{pkg: "knowledge/wire", may: "memory/wire"}, // where something comes from is said as of a memory
	{pkg: "contextrun/wire"},
	{pkg: "login/wire", may: "login/device"},
	{pkg: "inbox/wire"},
	{pkg: "session/wire"},
	{pkg: "connector/wire", may: "tool"}, // a call answers with a tool's result

	// rooms: a noun family each; sideways only what is named here
	{pkg: "resource", may: "spine resource/wire"},
	{pkg: "settings"},
	{pkg: "space", may: "spine resource space/seal"},
	{pkg: "space/seal", pure: true},
	// mail wakes a session, through the gate
	{pkg: "space/peer", may: "identity space space/seal board board/lists client connector/wire session"},
	{pkg: "board", may: "spine space space/seal"},
	{pkg: "board/lists", pure: true},                                // tasks as other programs keep them
	{pkg: "models", may: "provider provider/catalog secret egress"}, // who offers models, and with which key
	{pkg: "session", may: "spine resource models provider provider/* session/wire tool tool/box tool/builtin connector " +
		"session/since session/checkout session/aside " +
		"source/boxed"}, // the tool read reads documents
	{pkg: "session/aside", may: "session/wire tool/box"},        // what agents left that would run outside of their box
	{pkg: "session/checkout"},                                   // a worktree or workspace for one session
	{pkg: "session/since", may: "repo repo/diff repo/workcopy"}, // what changed in a folder
	{pkg: "session/loop", may: "spine gate models session provider provider/* tool connector connector/wire"},
	// a program is probed with a scripted model
	{pkg: "session/terminal", may: "spine gate session session/screen session/agents session/since session/checkout session/aside " +
		"session/terminal/* provider provider/scripted tool tool/box"},
	{pkg: "session/terminal/*", may: "session session/screen session/agents"},
	{pkg: "session/screen", pure: true},
	{pkg: "session/agents", may: "session/screen"},
	{pkg: "session/relay", may: "spine session"},
	// code work: sessions by their operations and what their agents said, a workspace, a check in a box
	{pkg: "job/prepare", may: "egress tool"}, // what checks depend on
	{pkg: "job", may: "journal job/wire job/prepare forge/wire session session/terminal session/checkout tool tool/box board " +
		"space/peer provider"},
	// a task's card says where its job stands
	// several agents on one goal: a lead and jobs, by their operations
	{pkg: "forge", may: "journal forge/wire job/wire secret secret/wire session/checkout egress"},
	{pkg: "forge/forgetest", may: "forge/wire"}, // tests only
	{pkg: "team", may: "journal team/wire job/wire models session session/terminal session/checkout provider"},
	{pkg: "connector", may: "spine connector/wire tool egress"},
	{pkg: "connector/connectortest"}, // tests only
	{pkg: "notify", may: "spine egress"},
	// of what people are told, and in which words
	{pkg: "notify/occasion", may: "notify identity approval session session/terminal session/relay automation job team wires inbox provider"},
	// reads their operations' answers
	{pkg: "inbox", may: "inbox/wire identity approval journal session session/terminal session/relay session/wire connector/wire " +
		"schedule/wire automation/wire job/wire team/wire memory/wire knowledge/wire server/wire space/peer"},
	{pkg: "automation/clock", pure: true},                         // when a schedule is due
	{pkg: "automation/spec", may: "automation/clock", pure: true}, // what an automation says
	{pkg: "automation/run", may: "automation/spec", pure: true},   // what becomes of one that was begun
	{pkg: "automation/hook", pure: true},                          // who signed a webhook
	{pkg: "automation/watch", may: "tool"},                        // what became different in a folder
	{pkg: "automation", may: "spine automation/wire automation/clock automation/spec automation/run automation/hook " +
		"automation/watch tool tool/box session session/terminal provider repo/diff resource/wire artifact/wire artifact/check " +
		"artifact/make"}, // a version is shown as what it changes
	{pkg: "pack", may: "pack/wire automation/wire repo/diff"},    // what is installed together
	{pkg: "pack/folder", may: "pack/wire"},                       // a pack as files
	{pkg: "pack/parts", may: "pack/wire pack/folder"},            // those that come with the program
	{pkg: "cli/pack", may: "cli/* wires pack/folder pack/parts"}, // a pack is read where it lies
	{pkg: "artifact", may: "artifact/wire repo/diff"},            // what automations made
	{pkg: "artifact/check", pure: true},                          // what is wrong with it
	{pkg: "artifact/make", pure: true, may: "artifact/check"},    // reports, pages, slides, tables; a cell is no formula by the same rule
	{pkg: "memory", may: "memory/wire source/wire memory/text memory/postings memory/vector memory/bert"},
	{pkg: "memory/postings", may: "memory/text"},           // which texts have which terms, in a table of a room
	{pkg: "memory/text", pure: true},                       // terms, queries, scores
	{pkg: "memory/vector", may: "memory/text", pure: true}, // word vectors: pieces, likeness, signatures
	{pkg: "memory/bert", may: "memory/vector", pure: true}, // a small model's own computation
	{pkg: "contextrun", may: "contextrun/wire"},            // work that is written down as it goes
	{pkg: "knowledge", may: "knowledge/wire memory/wire memory/text memory/postings"},
	{pkg: "source", may: "source/wire source/boxed source/decode memory/text memory/postings tool tool/box egress"},
	{pkg: "source/boxed", may: "source/decode tool tool/box"},    // documents are read in a process of their own
	{pkg: "source/decode", may: "source/decode/pdf", pure: true}, // text out of documents
	{pkg: "source/decode/pdf", pure: true},                       // words of a PDF, as people read them

	// repositories: jj's model, and what surrounds it
	{pkg: "repo", may: "repo/diff", pure: true},
	{pkg: "repo/diff", pure: true},
	{pkg: "repo/text", pure: true},
	{pkg: "repo/dsl", pure: true},
	{pkg: "repo/pattern", pure: true},
	{pkg: "repo/fileset", may: "repo repo/dsl repo/pattern", pure: true},
	{pkg: "repo/revset", may: "repo repo/dsl repo/pattern repo/fileset", pure: true},
	{pkg: "repo/annotate", may: "repo repo/diff repo/revset", pure: true},
	{pkg: "repo/template", may: "repo repo/dsl repo/pattern repo/text", pure: true},
	{pkg: "repo/render", may: "repo repo/diff repo/dsl repo/pattern repo/text repo/fileset repo/revset repo/template", pure: true},
	{pkg: "repo/kin"},
	{pkg: "repo/gitstore", may: "repo"},
	{pkg: "repo/workcopy", may: "repo repo/gitstore"},
	{pkg: "repo/stocktest", may: "repo testenv"}, // tests only
	{pkg: "repo/exchange", may: "repo repo/gitstore"},
	{pkg: "repo/host", may: "spine gate repo repo/gitstore repo/workcopy repo/exchange repo/diff resource"},
	{pkg: "repo/replica", may: "repo repo/diff repo/gitstore repo/workcopy repo/exchange client"},

	// jj's command line: over repositories, and below nothing but commands
	{pkg: "jj", may: "jj/config jj/screen repo repo/stocktest testenv repo/diff repo/dsl repo/pattern repo/text repo/fileset " +
		"repo/revset repo/annotate repo/template repo/render repo/gitstore repo/workcopy"},
	{pkg: "jj/config"},
	{pkg: "jj/screen", may: "repo/text"},

	// leaves below the rooms
	{pkg: "provider"},
	{pkg: "provider/*", may: "provider provider/*"},
	{pkg: "provider/scripted/scriptedmodel", may: "provider/scripted"},
	{pkg: "egress"},
	{pkg: "tool", may: "tool/box"},
	{pkg: "tool/box", may: "tool/confine"}, // every sandbox of the program
	{pkg: "tool/confine"},
	{pkg: "tool/builtin", may: "tool secret"},
	{pkg: "tunnel", may: "tunnel/wire"},
	{pkg: "schedule", may: "schedule/wire automation/clock"},
	{pkg: "login", may: "login/wire login/device secret"},
	{pkg: "login/device", pure: true}, // the key that answers for a person elsewhere
	// the servers that workspaces and logins of this machine belong to
	{pkg: "remote", may: "identity gate policy secret remote/wire login login/wire repo/host repo/replica space/peer client"},
	// what a tenant has: weighed, carried to another server, erased
	{pkg: "tenancy", may: "spine backup session automation space/peer space/seal contextrun/wire"},

	// doors: translate, decide nothing, know no room's service
	{pkg: "httpapi", may: "gate journal identity"},
	{pkg: "oauth", may: "gate identity"},
	{pkg: "mcpserver", may: "gate identity oauth"},
	{pkg: "compat", may: "gate wires"},
	// pages take the handles, In and Out of rooms, and nothing else: TestPagesNameNoService
	{pkg: "panel", may: "gate identity oauth wires panel/* settings provider approval journal policy/book board board/lists space " +
		"space/peer models session session/terminal session/relay repo/host pack/folder pack/parts"}, // those that come with tandem
	{pkg: "panel/*", may: "panel/*"},
	{pkg: "panel/browsertest", may: "testenv panel/sign"}, // tests only
	{pkg: "client"},
	{pkg: "cli", may: "cli/* jj tool/confine source/boxed"}, // this program starts itself to become a confined command, or to read documents
	// commands use a room's In and Out types and never its service: they hold no database
	{pkg: "cli/*", may: "cli/* client daemon settings spine rooms wires login/device"},
	// tasks are read from lists and written as such where the files are
	{pkg: "cli/board", may: "cli/* client daemon settings spine rooms wires board/lists"},
	// a grant in the published vocabulary is what an operation takes
	{pkg: "cli/policy", may: "cli/* client daemon settings spine rooms wires login/device policy/vocabulary"},
	{pkg: "cli/automation", may: "cli/* wires automation/spec"}, // a definition is checked without a server
	// a workspace's commands work on its copy
	{pkg: "cli/repo", may: "cli/* client daemon settings spine rooms wires repo repo/replica jj/config"},
	// the doctor looks at terminals
	{pkg: "cli/setup", may: "cli/* client daemon server/health settings spine rooms wires session/terminal session/agents"},
	// who stops the server is told which terminals go on
	{pkg: "cli/server", may: "cli/* client daemon settings spine rooms wires session/terminal"},
	// a conversation is made of a provider's blocks
	{pkg: "cli/session", may: "cli/* client daemon settings spine rooms wires provider session/terminal session/agents " +
		"session/checkout session/relay"},

	// root
	{pkg: "daemon", may: "*"},
	{pkg: "../cmd/tandem", may: "cli"},

	// tests only
	{pkg: "testenv"},
}

// The ground may be imported by all, and has an order of its own.
var ground = map[string]string{"fault": "", "id": "fault", "wholefile": "", "logfile": "", "metric": "", "foreign": "", "told": "",
	"unified": "", "plot": "",
	"spelling": "", "crowd": "", "stream": "", "lease": "fault spelling",
	"db": "fault id", "op": "fault id db", "owner": "fault id db"}

type listed struct {
	ImportPath string
	Name       string
	Doc        string
	Imports    []string
	GoFiles    []string
}

func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports,GoFiles", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		all = append(all, p)
	}
}

// place is a package's name on the map.
func place(importPath string) string {
	if rest, ok := strings.CutPrefix(importPath, "tandem/internal/"); ok {
		return rest
	}
	return "../" + strings.TrimPrefix(importPath, "tandem/")
}

func matches(pattern, pkg string) bool {
	ok, err := path.Match(pattern, pkg)
	return err == nil && ok
}

func find(pkg string) *wall {
	for i := range houseMap {
		if houseMap[i].pkg == pkg {
			return &houseMap[i]
		}
	}
	for i := range houseMap {
		if matches(houseMap[i].pkg, pkg) {
			return &houseMap[i]
		}
	}
	return nil
}

// mayImport says whether from may import to, both named as on the map.
func mayImport(from *wall, name, to string) bool {
	if order, ok := ground[name]; ok {
		return slices.Contains(strings.Fields(order), to)
	}
	if _, ok := ground[to]; ok {
		return true
	}
	for _, word := range strings.Fields(from.may) {
		if word == "*" && !strings.HasPrefix(to, "cli") && to != "jj" && !strings.HasPrefix(to, "jj/") && to != "testenv" {
			return true
		}
		for _, pattern := range append(strings.Fields(groups[word]), word) {
			if matches(pattern, to) {
				return true
			}
		}
	}
	return false
}

// impure are the parts of the standard library that reach outside the process.
var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "database/sql", "syscall", "io/ioutil"}

func TestImportsFollowTheMap(t *testing.T) {
	for _, p := range list(t) {
		name := place(p.ImportPath)
		if strings.HasPrefix(name, "../test/") || strings.HasPrefix(name, "../bench") || strings.HasPrefix(name, "../scripts/") ||
			name == "../tandem" {
			continue // programs and proofs around the house may look at everything
		}
		w := find(name)
		if w == nil {
			t.Errorf("package %s is not on the map: add a line to arch_test.go that says what it may import", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if w.pure && slices.Contains(impure, imp) {
				t.Errorf("%s computes only, but imports %s: do the I/O in the room that uses it", name, imp)
			}
			if !strings.HasPrefix(imp, "tandem/") {
				continue
			}
			if to := place(imp); !mayImport(w, name, to) {
				t.Errorf("%s imports %s, which is not on the map: %s", name, to, advice(to))
			}
		}
	}
}

func advice(to string) string {
	if to == "testenv" {
		return "testenv is for tests only"
	}
	return "reach it through an operation (op.Invoker), or move the wall in arch_test.go and say why"
}

func TestMapHasNoGhosts(t *testing.T) {
	all := list(t)
	for _, w := range houseMap {
		there := slices.ContainsFunc(all, func(p listed) bool { return matches(w.pkg, place(p.ImportPath)) })
		if !there && !w.planned {
			t.Errorf("%s is on the map but does not exist: remove its line from arch_test.go", w.pkg)
		}
		for _, word := range strings.Fields(w.may) {
			if _, group := groups[word]; !group && word != "*" && find(word) == nil &&
				!slices.ContainsFunc(houseMap, func(o wall) bool { return o.pkg == word }) {
				t.Errorf("%s may import %q, which nothing on the map is called", w.pkg, word)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range list(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		want := fmt.Sprintf("Package %s ", p.Name)
		if p.Name == "main" {
			want = "Command "
		}
		if !strings.HasPrefix(p.Doc, want) {
			t.Errorf("%s has no package comment that begins with %q: say what it owns and what it refuses", p.ImportPath, want)
		}
	}
}

// docs/ARCHITECTURE.md has a place for every room of the map.
func TestTheMapIsDrawn(t *testing.T) {
	drawing, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range houseMap {
		room, _, _ := strings.Cut(w.pkg, "/")
		if room != ".." && !strings.Contains(string(drawing), room) { // ".." are the folders beside internal
			t.Errorf("internal/%s is not in docs/ARCHITECTURE.md", room)
		}
	}
}
