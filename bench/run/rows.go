package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/client"
	"tandem/internal/provider/scripted"
)

// row is a time that any build of the program can be measured by: it uses the program's doors and nothing of its inside, so that
// an earlier commit is measured by the same words.
type row struct {
	name, what string
	times      int // how often in a round, whose figure is the median
	ready      func(s *side) (once func() error, err error)
}

var rows = []row{
	{"start", "from exec to the first healthy answer", 3, starting},
	{"read", "a resource is read over HTTP", 200, reading},
	{"write", "a resource is written over HTTP", 60, writing},
	{"open", "a session is opened in a granted folder", 40, opening},
	{"turn", "a turn of a session, from the prompt to its end", 20, turning("[[say hello]]", "hello")},
	{"bash", "a turn in which the session runs a command in its sandbox", 10,
		turning(`[[tool bash {"command":"printf it-%d 42"}]] [[result]]`, "it-42")},
	{"ask", "an agent's call is asked for, decided by a person, and made", 15, asking},
	{"decide", "a read that policy decides among 400 grants, of a caller who was here before", 100, deciding((*decider).warm)},
	{"decide-new", "the same of a caller who comes for the first time", 15, deciding((*decider).newcomer)},
	{"decide-changed", "the same after a grant was given", 15, deciding((*decider).changed)},
	{"jj-st", "jj st in a small repository", 5, versioning("st")},
	{"jj-log", "jj log in a small repository", 5, versioning("log")},
}

// side is one of the programs that are compared, running.
type side struct {
	name, bin string
	p         *program
	model     *scripted.Server
	c         *caller
	person    *caller
	folder    string
	decider   *decider
}

const benchPIN = "246813"

func newSide(name, bin string) (s *side, err error) {
	s = &side{name: name, bin: bin, model: &scripted.Server{}}
	if err := s.model.Start("127.0.0.1:0"); err != nil {
		return nil, err
	}
	if s.p, err = startOf(bin); err != nil {
		return nil, errors.Join(err, s.model.Close())
	}
	s.c = &caller{base: s.p.url, http: &http.Client{}, token: benchToken}
	if err := s.furnish(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *side) stop() error { return errors.Join(s.p.stop(), s.model.Close()) }

// furnish gives the house a PIN, a model, a folder, and a token with which a person decides.
func (s *side) furnish() error {
	s.folder = filepath.Join(s.p.dir, "code")
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return err
	}
	local := client.Socket(filepath.Join(s.p.dir, "data", "tandem.sock"))
	present := local.WithPIN(benchPIN)
	var minted struct{ Secret string }
	ctx := context.Background()
	err := errors.Join(
		local.Call(ctx, "pin.set", obj{"pin": benchPIN}, nil),
		present.Call(ctx, "provider.add", obj{"id": "fake", "base": s.model.URL(), "wire": "anthropic", "keyless": true}, nil),
		present.Call(ctx, "folder.grant", obj{"path": s.folder}, nil),
		present.Call(ctx, "grant.add", obj{"principal": "session:*", "resource": "tool:/bash", "permissions": []string{"execute"}}, nil),
		present.Call(ctx, "token.new", obj{"actor": "owner", "decide": true, "expires_in_secs": 86400}, &minted),
	)
	s.person = &caller{base: s.p.url, http: &http.Client{}, token: minted.Secret}
	return err
}

func starting(s *side) (func() error, error) {
	return func() error {
		p, err := startOf(s.bin)
		if err != nil {
			return err
		}
		s.p.took = p.took
		return p.stop()
	}, nil
}

func reading(s *side) (func() error, error) {
	if err := s.c.do("resource.put", obj{"key": "bench/read", "value": value}, nil); err != nil {
		return nil, err
	}
	return func() error { return s.c.do("resource.get", obj{"key": "bench/read"}, nil) }, nil
}

func writing(s *side) (func() error, error) {
	n := 0
	return func() error {
		n++
		return s.c.do("resource.put", obj{"key": fmt.Sprintf("bench/write%d", n), "value": value}, nil)
	}, nil
}

func opening(s *side) (func() error, error) {
	return func() error {
		return s.c.do("session.create", obj{"model": "fake/scripted-1", "directory": s.folder}, nil)
	}, nil
}

func turning(prompt, want string) func(s *side) (func() error, error) {
	return func(s *side) (func() error, error) {
		var opened struct{ ID string }
		if err := s.c.do("session.create", obj{"model": "fake/scripted-1", "directory": s.folder}, &opened); err != nil {
			return nil, err
		}
		turns := 0
		return func() error {
			text, _, err := s.c.turn(opened.ID, prompt, turns)
			turns++
			if err == nil && !strings.Contains(text, want) {
				err = fmt.Errorf("the turn said %q, without %q", text, want)
			}
			return err
		}, nil
	}
}

// asking is an agent's call from its first try to its success: refused for now, looked at, decided, made.
func asking(s *side) (func() error, error) {
	ctx := context.Background()
	present := client.Socket(filepath.Join(s.p.dir, "data", "tandem.sock")).WithPIN(benchPIN)
	var minted struct{ Secret string }
	if err := errors.Join(
		present.Call(ctx, "actor.add", obj{"name": "builder", "kind": "agent"}, nil),
		present.Call(ctx, "token.new", obj{"actor": "builder"}, &minted),
		present.Call(ctx, "grant.add", obj{"principal": "agent:builder", "resource": "resource:/prod", "effect": "ask",
			"permissions": []string{"edit"}}, nil),
	); err != nil {
		return nil, err
	}
	agent := &caller{base: s.p.url, http: &http.Client{}, token: minted.Secret}
	n := 0
	return func() error {
		n++
		put := obj{"key": fmt.Sprintf("prod/flag%d", n), "value": "on"}
		status, answer, err := agent.send("resource.put", put)
		if err != nil || status != http.StatusAccepted {
			return errors.Join(err, fmt.Errorf("the call was not asked for: %d %s", status, answer))
		}
		id := askID.FindString(string(answer))
		var ask struct {
			Digest string
			Page   struct{ Digest string } `json:"first_page"`
		}
		if err := s.person.do("approval.get", obj{"id": id}, &ask); err != nil {
			return err
		}
		yes := obj{"id": id, "decision": "approve", "digest": ask.Digest}
		if ask.Page.Digest != "" { // programs before it name no pages
			yes["pages"] = []string{ask.Page.Digest}
		}
		if err := s.person.do("approval.decide", yes, nil); err != nil {
			return err
		}
		return agent.do("resource.put", put, nil)
	}, nil
}

func versioning(words ...string) func(s *side) (func() error, error) {
	return func(s *side) (func() error, error) {
		dir, err := scratch("tj")
		if err != nil {
			return nil, err
		}
		env := []string{"HOME=" + dir, "PATH=" + withoutJJ(os.Getenv("PATH")), "JJ_USER=B", "JJ_EMAIL=b@example.com"}
		jj := func(args ...string) error {
			cmd := exec.Command(s.bin, append([]string{"jj"}, args...)...)
			cmd.Dir, cmd.Env = dir, env
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("jj %s: %w\n%s", strings.Join(args, " "), err, out)
			}
			return nil
		}
		for i := range 200 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte("text\n"), 0o644); err != nil {
				return nil, err
			}
		}
		return func() error { return jj(words...) }, errors.Join(jj("git", "init"), jj("commit", "-m", "one"), jj("commit", "-m", "two"))
	}
}

// round runs a row so often and returns the median, in milliseconds.
func (r row) round(s *side, once func() error) (float64, error) {
	var took []time.Duration
	for range r.times {
		began := time.Now()
		if err := once(); err != nil {
			return 0, fmt.Errorf("%s of %s: %w", r.name, s.name, err)
		}
		d := time.Since(began)
		if r.name == "start" || strings.HasPrefix(r.name, "decide") {
			d = s.p.took // until healthy, or until the answer: what is done around it is not counted
		}
		took = append(took, d)
	}
	slices.Sort(took)
	return float64(took[len(took)/2]) / 1e6, nil
}

// authority are the rows about asking and confining, as a section of the results.
func authority(int) (section, error) {
	s := section{title: "Authority",
		how: "What asking, deciding and confining cost on the running program, over HTTP: the median of five rounds, " +
			"and the spread of their medians."}
	bin, err := build()
	if err != nil {
		return s, err
	}
	one, err := newSide("this", bin)
	if err != nil {
		return s, err
	}
	for _, r := range rows {
		if !slices.Contains([]string{"open", "bash", "ask"}, r.name) {
			continue
		}
		once, err := r.ready(one)
		if err != nil {
			return s, errors.Join(err, one.stop())
		}
		var all []float64
		for range 5 {
			ms, err := r.round(one, once)
			if err != nil {
				return s, errors.Join(err, one.stop())
			}
			all = append(all, ms)
		}
		m, low, high := spread(all)
		s.figures = append(s.figures, figure{what: r.what, value: fmt.Sprintf("%.2f ms", m), compared: fmt.Sprintf("%.2f to %.2f ms", low, high)})
	}
	return s, one.stop()
}

// send is a call whose status matters.
func (c *caller) send(name string, in any) (int, []byte, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequest("POST", c.base+"/op/"+name, strings.NewReader(string(body)))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.bearer())
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, data, err
}
