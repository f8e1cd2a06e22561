package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"path/filepath"

	"tandem/internal/client"
)

// How much is measured of automations.
const (
	chainSteps  = 50
	atOnce      = 200
	atGates     = 1000
	ofOne       = 50 // of one automation: an asker has 200 open asks at most
	schedules   = 10_000
	scheduleOne = 50 // triggers of one automation
)

// steps measures what a run costs: each step is a row that is claimed, a state operation through the gate, and an event.
func steps(int) (section, error) {
	s := section{title: "Automations", how: fmt.Sprintf("A run of %d nodes behind each other, each a `resource.put`, against as many "+
		"`resource.put` over the control socket; SQLite with synchronous=FULL and PostgreSQL, the program in a process of its own. Beside it a "+
		"workflow of as many steps of DBOS Transact v1.3.0 (`bench/dbos`), each of which writes one row of its own, in one process with no "+
		"door, rights or journal, on SQLite with synchronous=FULL, too (its own choice is NORMAL). Runs that wait are rows: they hold no "+
		"goroutine.", chainSteps)}
	dbos, why, err := dbosProgram()
	if err != nil {
		return s, err
	}
	dir, err := scratch("tb")
	if err != nil {
		return s, err
	}
	b, err := beginAutomations()
	if err != nil {
		return s, err
	}
	step, err := b.step()
	if err == nil {
		err = besideDBOS(&s, "SQLite", step, dbos, why, filepath.Join(dir, "dbos.db"))
	}
	if err == nil {
		err = b.measure(&s)
	}
	if err = errors.Join(err, b.p.stop()); err != nil {
		return s, err
	}
	err = onPostgres(func(one, other string) error {
		b, err := beginAutomations("TANDEM_DATABASE=" + one)
		if err != nil {
			return err
		}
		step, err := b.step()
		if err := errors.Join(err, b.p.stop()); err != nil {
			return err
		}
		return besideDBOS(&s, "PostgreSQL", step, dbos, why, other)
	})
	return s, err
}

// stepCost is what a step costs, and the state operation alone.
type stepCost struct{ ours, bare time.Duration }

// besideDBOS adds what a step costs on a database, and what it costs there with DBOS.
func besideDBOS(s *section, kind string, step stepCost, program, why, database string) error {
	beside := why
	if why == "" {
		r, err := dbosOn(program, database)
		if err != nil {
			return err
		}
		beside = fmt.Sprintf("a step of DBOS %s (%s where it does nothing; its row alone %s), so %.1f ×", fine(r.Step), fine(r.Empty),
			fine(r.Bare), float64(step.ours)/float64(r.Step))
	}
	s.figures = append(s.figures, figure{what: "a step, " + kind, value: fine(step.ours),
		compared: fmt.Sprintf("a state operation %s, so %.1f ×; %s", fine(step.bare), float64(step.ours)/float64(step.bare), beside)})
	return nil
}

// fine is a span in which tenths of a millisecond count.
func fine(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// beginAutomations starts the program and switches on what every measurement runs.
func beginAutomations(env ...string) (*automations, error) {
	p, err := startProgram(env...)
	if err != nil {
		return nil, err
	}
	b := &automations{p: p, c: client.Socket(filepath.Join(p.dir, "data", "tandem.sock"))}
	b.present = b.c.WithPIN(benchPIN)
	if err := b.prepare(); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return b, nil
}

// put is a node.
const put = "[[node]]\nid = \"a\"\n[node.operation]\nname = \"resource.put\"\ninput = { key = \"bench/one\", value = \"x\" }\n"

type automations struct {
	p          *program
	c, present *client.Client
}

func (b *automations) call(name string, in, out any) error {
	return b.c.Call(context.Background(), name, in, out)
}

// on stores a definition and switches it on.
func (b *automations) on(text string) error {
	var a struct{ Name, Latest string }
	if err := b.call("automation.add", obj{"text": text}, &a); err != nil {
		return err
	}
	return b.present.Call(context.Background(), "automation.on", obj{"name": a.Name, "digest": a.Latest}, nil)
}

func (b *automations) begin(name string) (string, error) {
	var r struct{ ID string }
	err := b.call("automation.run", obj{"name": name}, &r)
	return r.ID, err
}

// until waits until so many runs of an automation are left open.
func (b *automations) until(name string, open int) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var out struct{ Runs []struct{ ID string } }
		if err := b.call("automation.runs", obj{"name": name, "open": true, "limit": 500}, &out); err != nil {
			return err
		}
		if len(out.Runs) <= open {
			return nil
		}
	}
	return fmt.Errorf("runs of %s do not end", name)
}

func (b *automations) prepare() error {
	if err := b.call("pin.set", obj{"pin": benchPIN}, nil); err != nil {
		return err
	}
	var chain strings.Builder
	chain.WriteString("name = \"chain\"\nlimits = { runs = 1000, nodes = 100 }\n")
	for i := range chainSteps {
		after := ""
		if i > 0 {
			after = fmt.Sprintf("after = [\"n%d\"]\n", i-1)
		}
		fmt.Fprintf(&chain, "[[node]]\nid = \"n%d\"\n%s[node.operation]\nname = \"resource.put\"\n"+
			"input = { key = \"bench/n%d\", value = \"x\" }\n", i, after, i)
	}
	for _, text := range []string{chain.String(), "name = \"one\"\nlimits = { runs = 1000 }\n" + put} {
		if err := b.on(text); err != nil {
			return err
		}
	}
	return nil
}

func (b *automations) measure(s *section) error {
	for _, one := range []func(*section) error{b.together, b.clocks, b.gates} {
		if err := one(s); err != nil {
			return err
		}
	}
	return nil
}

func (b *automations) step() (stepCost, error) {
	best := stepCost{time.Hour, time.Hour}
	for range 3 { // the best of three, each beside the other
		began := time.Now()
		for i := range chainSteps {
			if err := b.call("resource.put", obj{"key": fmt.Sprintf("bench/bare%d", i), "value": "x"}, nil); err != nil {
				return best, err
			}
		}
		best.bare = min(best.bare, time.Since(began)/chainSteps)
		began = time.Now()
		if _, err := b.begin("chain"); err != nil {
			return best, err
		}
		if err := b.until("chain", 0); err != nil {
			return best, err
		}
		best.ours = min(best.ours, time.Since(began)/chainSteps)
	}
	return best, nil
}

func (b *automations) together(s *section) error {
	began := time.Now()
	var all sync.WaitGroup
	errs := make([]error, atOnce)
	for i := range atOnce {
		all.Go(func() { _, errs[i] = b.begin("one") })
	}
	all.Wait()
	err := errors.Join(errs...)
	if err == nil {
		err = b.until("one", 0)
	}
	took := time.Since(began)
	s.figures = append(s.figures, figure{what: fmt.Sprintf("%d runs at once, from the first call to the last end", atOnce),
		value: span(took), compared: perSecond(atOnce/took.Seconds()) + " runs"})
	return err
}

// clocks has so many schedules, none of them due: what a tick costs is what one more, which is due, waits.
func (b *automations) clocks(s *section) error {
	for i := range schedules / scheduleOne {
		var text strings.Builder
		fmt.Fprintf(&text, "name = \"clock-%d\"\n", i)
		for n := range scheduleOne {
			fmt.Fprintf(&text, "[[trigger]]\nid = \"t%d\"\nschedule = \"%d %d 1 1 *\"\n", n, n%60, i%24)
		}
		text.WriteString("[[node]]\nid = \"a\"\n[node.operation]\nname = \"resource.put\"\ninput = { key = \"bench/clock\", value = \"x\" }\n")
		if err := b.on(text.String()); err != nil {
			return err
		}
	}
	if err := b.on("name = \"ticks\"\nlimits = { runs = 100 }\n[[trigger]]\nid = \"t\"\nschedule = \"every 1m\"\n" +
		"[[node]]\nid = \"a\"\n[node.operation]\nname = \"resource.put\"\ninput = { key = \"bench/tick\", value = \"x\" }\n"); err != nil {
		return err
	}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var out struct {
			Ticks []struct {
				Due, At time.Time
				Run     string
			}
		}
		if err := b.call("automation.ticks", obj{"name": "ticks"}, &out); err != nil {
			return err
		}
		if len(out.Ticks) > 0 && out.Ticks[0].Run != "" {
			s.figures = append(s.figures, figure{what: fmt.Sprintf("a tick beside %d schedules: from its moment to its run", schedules),
				value: span(out.Ticks[0].At.Sub(out.Ticks[0].Due))})
			return nil
		}
	}
	return errors.New("no tick came")
}

func (b *automations) gates(s *section) error {
	pid := b.p.cmd.Process.Pid
	before := residentNow(pid)
	for n := range atGates {
		name := fmt.Sprintf("gated-%d", n/ofOne)
		if n%ofOne == 0 {
			if err := b.on("name = \"" + name + "\"\nlimits = { runs = 1000 }\n" + put + "[node.output.value.schema]\ntype = \"string\"\n" +
				"[[node]]\nid = \"look\"\n[node.gate]\ntext = \"May it?\"\nshows = [\"a.value\"]\n"); err != nil {
				return err
			}
		}
		if _, err := b.begin(name); err != nil {
			return err
		}
	}
	asked := 0
	for end := time.Now().Add(2 * time.Minute); asked < atGates; time.Sleep(100 * time.Millisecond) {
		var out struct{ Asks []struct{ ID string } }
		if err := b.call("approval.list", obj{"state": "pending", "limit": 1000}, &out); err != nil {
			return err
		}
		if asked = len(out.Asks); time.Now().After(end) {
			return fmt.Errorf("only %d runs have asked", asked)
		}
	}
	time.Sleep(3 * time.Second) // at rest
	woken := switches(pid)
	time.Sleep(3 * time.Second)
	s.figures = append(s.figures, figure{what: fmt.Sprintf("%d runs that wait at gates", atGates),
		value:    fmt.Sprintf("%d MiB more than before", (residentNow(pid)-before)>>10),
		compared: fmt.Sprintf("%.0f switches a second at rest", float64(switches(pid)-woken)/3)})
	return nil
}
