package red

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tandem/internal/panel/browsertest"
)

// hostile is a text that runs a script wherever it is taken for more than a text: as an element, an attribute, an address, a title, the
// inside of a script or a style, or as Markdown.
func hostile(place string) string {
	run := fmt.Sprintf("(window.ran??=[]).push(`RED%s`)", place)
	return "RED" + place + ` <img src=x onerror="` + run + `"> "><svg onload="` + run + `"> ' autofocus onfocus='` + run +
		`' x='</title></textarea></style></script><script>` + run + `</script> [link](javascript:` + run +
		`) <details open ontoggle="` + run + `">`
}

// walk is what a real browser found in the panel after hostile texts were put wherever somebody else's words are shown.
type walk struct {
	Naive            map[string]bool
	Shown, Ran, Made map[string][]string
	Pages            int
	Refused          []string
}

// places are where somebody else's words reach a page, and how they get there. The names are letters only.
var places = []struct {
	name, word string
	put        func(s *stage, c *cell, text string)
}{
	{"the title of a session", "title", func(s *stage, c *cell, text string) {
		c.call(s.T, "session.create", fields{"title": text[:190], "directory": c.inside("")}, nil)
	}},
	{"what a person wrote to a session", "prompt", func(s *stage, c *cell, text string) { c.prompt(s, text) }},
	{"what a model answered", "answer", func(s *stage, c *cell, text string) { c.prompt(s, "[[say "+text+"]]") }},
	{"what a command printed", "output", func(s *stage, c *cell, text string) {
		if err := os.WriteFile(c.inside("out.txt"), []byte(text), 0o644); err != nil {
			s.Fatal(err)
		}
		c.run(s.T, "cat out.txt")
	}},
	{"the name of a file that a tool is given", "file", func(s *stage, c *cell, text string) {
		args, _ := json.Marshal(fields{"path": strings.ReplaceAll(text, "/", ":"), "content": "x"}) // it can be marshalled
		c.prompt(s, "[[tool write "+string(args)+"]]")
	}},
	{"what is written to a file", "content", func(s *stage, c *cell, text string) {
		args, _ := json.Marshal(fields{"path": "page.html", "content": text}) // it can be marshalled
		c.prompt(s, "[[tool write "+string(args)+"]]")
	}},
	{"the value of a shared key", "value", func(s *stage, c *cell, text string) {
		c.call(s.T, "resource.put", fields{"key": "red/value", "value": text}, nil)
	}},
	{"the note of a grant", "note", func(s *stage, c *cell, text string) {
		c.call(s.T, "grant.add", fields{"principal": "agent:red", "resource": "resource:/red", "permissions": []string{"read"},
			"note": text}, nil)
	}},
	{"the reason of a rule", "rule", func(s *stage, c *cell, text string) {
		c.call(s.T, "policy.edit", fields{"rules": "@id(\"red\") @reason(" + quote(text) +
			")\nforbid (principal is Agent, action, resource in Resource::\"/rule\");"}, nil)
	}},
	{"the title of a task", "task", func(s *stage, c *cell, text string) {
		c.call(s.T, "board.plan", fields{"tasks": []fields{{"title": text[:190], "description": text}}}, nil)
	}},
	{"a finding", "finding", func(s *stage, c *cell, text string) {
		c.call(s.T, "board.finding", fields{"service": "web", "severity": "high", "summary": text}, nil)
	}},
	{"a variable of a space", "variable", func(s *stage, c *cell, text string) {
		c.call(s.T, "space.set_var", fields{"key": "red", "value": text}, nil)
	}},
	{"the tools of a connector", "tool", func(s *stage, c *cell, text string) {
		m := s.outsider(offers("tool", text))
		c.call(s.T, "connector.add", fields{"name": "scripts", "url": m.url}, nil)
		c.call(s.T, "connector.sync", fields{"name": "scripts"}, nil)
	}},
	{"why a connector failed", "failure", func(s *stage, c *cell, text string) {
		m := s.outsider(func(string, json.RawMessage) (any, error) { return nil, fmt.Errorf("%s", text) })
		c.call(s.T, "connector.add", fields{"name": "failing", "url": m.url}, nil)
		c.tries("connector.sync", fields{"name": "failing"})
	}},
	{"the address of a page that is not there", "address", nil},
}

// walk puts a hostile text into every place, and lets a browser look at all of the panel.
func (s *stage) walk() *walk {
	return shared(s, "walk", func() *walk {
		c := s.cell()
		naive := http.NewServeMux()
		plain := httptest.NewServer(naive)
		s.Cleanup(plain.Close)
		pages := map[string]string{}
		c.call(s.T, "space.create", fields{"name": "red"}, nil)
		for _, p := range places {
			text := hostile(p.word)
			naive.HandleFunc("/"+p.word, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>%s</title><p>%s</p><input value='%s'>", text, text, text)
			})
			pages[p.word] = plain.URL + "/" + p.word
			if p.put != nil {
				p.put(s, c, text)
			}
		}
		var status struct{ Panel string }
		var link struct{ Code string }
		c.call(s.T, "server.status", fields{}, &status)
		c.call(s.T, "signin.link", fields{}, &link)
		w, most := &walk{}, 70
		if !s.whole {
			most = 20
		}
		browsertest.Run(s.T, "testdata/scripts.cjs", fields{"base": status.Panel, "code": link.Code, "naive": pages, "pause": 60, "most": most,
			"pages": []string{"/panel/", "/panel/sessions", "/panel/sessions/" + c.session, "/panel/approvals", "/panel/journal",
				"/panel/actors", "/panel/policy", "/panel/resources", "/panel/resources?key=red/value", "/panel/board", "/panel/spaces",
				"/panel/spaces/messages", "/panel/connectors", "/panel/models", "/panel/system", "/panel/repos",
				"/panel/no%20" + strings.ReplaceAll(strings.ReplaceAll(hostile("address"), "%", ""), "/", "%2f"),
				"/panel/sessions?q=" + strings.ReplaceAll(hostile("address"), " ", "+")}}, w)
		s.Logf("%d pages were looked at; refused by the browser: %q", w.Pages, w.Refused)
		return w
	})
}

// scriptTrials are a trial for each place: it worked when a script ran, or when anything but a text came of it.
var scriptTrials = func() (out []trial) {
	for _, p := range places {
		out = append(out, trial{"scripts", p.name, func(s *stage) (bool, bool) {
			w := s.walk()
			if len(w.Shown["RED"+p.word]) == 0 && p.put != nil && s.whole {
				s.Errorf("%s: no page of the panel shows it, so it shows nothing", p.name)
			}
			return w.Naive[p.word], len(w.Ran["RED"+p.word])+len(w.Made["RED"+p.word]) > 0
		}})
	}
	return out
}()

// cell is the house that trials share: the real program, with a session.
func (s *stage) cell() *cell {
	return shared(s, "cell", func() *cell { return enter(s.T, "bwrap", os.Getuid()) })
}

// fields is an operation's input.
type fields = map[string]any

func quote(text string) string {
	b, _ := json.Marshal(text) // a string can be marshalled
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

// tries runs an operation as the person, present, and says what it answered and whether it was done.
func (c *cell) tries(name string, in any) (string, bool) {
	body, _ := json.Marshal(in) // inputs can be marshalled
	cmd := exec.Command("curl", "-s", "-m", "90", "--fail-with-body", "--unix-socket", filepath.Join(c.home, ".tandem", "tandem.sock"), "-H",
		"Content-Type: application/json", "-H", "Tandem-Pin: "+pin, "-d", "@-", "http://tandem/op/"+name)
	cmd.Dir, cmd.SysProcAttr, cmd.Stdin = "/", as(c.uid), strings.NewReader(string(body))
	out, err := cmd.Output()
	return string(out), err == nil
}
