package loop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// plans counts how often calls of a tool were planned.
type plans struct {
	mu     sync.Mutex
	n      map[string]int
	before func(tool string) // each of them; nil is nothing
}

// of are the same tools, whose plans are counted.
func (p *plans) of(all []tool.Tool) []tool.Tool {
	all = slices.Clone(all)
	for i, t := range all {
		all[i] = countedTool{t, p}
	}
	return all
}

// take is how many there were since it was last asked.
func (p *plans) take(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.n[name]
	delete(p.n, name)
	return n
}

type countedTool struct {
	tool.Tool
	plans *plans
}

func (c countedTool) Plan(env *tool.Env, args json.RawMessage) (*tool.Plan, error) {
	c.plans.mu.Lock()
	if c.plans.n == nil {
		c.plans.n = map[string]int{}
	}
	c.plans.n[c.Spec().Name]++
	before := c.plans.before
	c.plans.mu.Unlock()
	if before != nil {
		before(c.Spec().Name)
	}
	return c.Tool.Plan(env, args)
}

// What is decided about is what runs: one plan a passage. An answer begins a new passage, and its plan is a new one.
func TestACallIsPlannedOnceAPassage(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "one")
	s := h.session()
	h.until(h.prompt(s, `[[tool read {"path":"a.txt"}]] [[say end]]`), session.Done)
	if n := h.plans.take("read"); n != 1 {
		t.Errorf("a read that needs nobody was planned %d times", n)
	}
	turn := h.prompt(s, `[[tool edit {"path":"a.txt","old":"one","new":"two"}]] [[say end]]`)
	h.until(turn, session.Waiting)
	if n := h.plans.take("edit"); n != 1 {
		t.Errorf("until it was asked about, an edit was planned %d times", n)
	}
	h.decide(turn, approval.Approve, "")
	h.until(turn, session.Done)
	if n := h.plans.take("edit"); n != 1 || h.read("a.txt") != "two" {
		t.Errorf("after the answer the edit was planned %d times; the file holds %q", n, h.read("a.txt"))
	}
}

// The plan after an answer is compared with the one that was answered: where the folder has become a link to another, nobody said yes.
func TestAnAnswerIsForThePlanThatWasShown(t *testing.T) {
	h := newHouse(t)
	for _, dir := range []string{"d", "e"} {
		if err := os.Mkdir(filepath.Join(h.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		h.write(dir+"/a.txt", "one")
	}
	s := h.session()
	turn := h.prompt(s, `[[tool edit {"path":"d/a.txt","old":"one","new":"two"}]] [[say end]]`)
	first := h.until(turn, session.Waiting).Ask
	if err := os.RemoveAll(filepath.Join(h.dir, "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("e", filepath.Join(h.dir, "d")); err != nil {
		t.Fatal(err)
	}
	h.decide(turn, approval.Approve, "")
	for h.until(turn, session.Waiting, session.Running).Ask == first {
		continue
	}
	if again := h.until(turn, session.Waiting).Ask; again == first || h.read("e/a.txt") != "one" {
		t.Errorf("asked %s, then %s; the other file holds %q", first, again, h.read("e/a.txt"))
	}
}
