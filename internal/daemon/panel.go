package daemon

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/panel"
	"tandem/internal/session/agents"
)

// newPanel builds the web control panel over the gate.
func (d *Daemon) newPanel() *panel.Panel {
	machine, err := os.Hostname()
	if err != nil {
		machine = "this machine"
	}
	program := "tandem"
	if self, err := os.Executable(); err == nil {
		program = Callable(self)
	}
	return panel.New(panel.Config{Gate: d.gate, Identity: d.identity, Feed: d.feed, Check: d.checkReceipt, Log: d.Log, Now: time.Now,
		Public: d.rooms.tunnel.Public, Near: d.panelURL, Cookie: CookieName, Version: d.Version, Machine: machine, Program: program,
		Agents: agentsHere, Topic: d.offeredTopic})
}

// agentsHere are the agent programs on the server's PATH, and whether tmux is.
func agentsHere() (found []string, tmux bool) {
	for _, name := range agents.Names {
		if _, err := exec.LookPath(name); err == nil {
			found = append(found, name)
		}
	}
	_, err := exec.LookPath("tmux")
	return found, err == nil
}

// Callable is what a person types to call this very program: its name when the
// shell finds it, its path when it does not.
func Callable(self string) string {
	if found, err := exec.LookPath("tandem"); err == nil {
		if real, err := filepath.EvalSymlinks(found); err == nil && real == self {
			return "tandem"
		}
	}
	return self
}

// feedPatience is how long a page's stream stays silent at most.
const feedPatience = 15 * time.Second

// feed waits for something behind a place and tells the nouns it happened to,
// as far as the caller may see them. That a terminal moved is no event: it says
// that sessions should be read again, and nothing more.
func (d *Daemon) feed(ctx context.Context, after panel.Place) (panel.Place, []string, error) {
	if after.Seq < 0 {
		head, err := d.journal.Head(ctx)
		return panel.Place{Seq: head, Moves: d.moves.count()}, nil, err
	}
	wait, cancel := context.WithTimeout(ctx, feedPatience)
	defer cancel()
	defer d.moves.after(after.Moves, cancel)()
	waited := d.journal.Wait(wait, after.Seq)
	var nouns []string
	if n := d.moves.count(); n > after.Moves {
		after.Moves, nouns = n, []string{"session"}
	}
	switch {
	case ctx.Err() != nil:
		return after, nouns, ctx.Err()
	case waited != nil && wait.Err() == nil: // the database is away, and asking again at once would not bring it back
		return after, nouns, waited
	case waited != nil:
		return after, nouns, nil
	}
	page, at, err := d.journal.Next(ctx, op.CallerFrom(ctx).Tenant, after.Seq, 200, journal.Filter{})
	if err != nil {
		return after, nil, err
	}
	after.Seq = at
	for i := range page {
		e := &page[i]
		if !e.Visible(ctx) {
			continue
		}
		noun, _, _ := strings.Cut(e.Type, ".")
		if e.Phase == journal.Asked {
			noun = "approval"
		}
		if !slices.Contains(nouns, noun) {
			nouns = append(nouns, noun)
		}
	}
	return after, nouns, nil
}

// checkReceipt judges a receipt as anybody with the public key would.
func (d *Daemon) checkReceipt(data []byte) error {
	r, err := journal.ParseReceipt(data)
	if err != nil {
		return err
	}
	key, err := d.journal.VerifierKey(context.Background())
	if err != nil {
		return fmt.Errorf("read the public key: %w", err)
	}
	_, err = journal.OpenReceipt(r, key)
	return err
}

// withoutPanel hides the panel on a listener that does not offer it.
func (d *Daemon) withoutPanel(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page(r.URL.Path) {
			d.web.Fail(w, r, fault.New(fault.NotFound, "panel", "the panel is not served here").
				WithNext("open it on the server's own machine, or start the server with --panel-public"))
			return
		}
		h.ServeHTTP(w, r)
	})
}
