package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandem/internal/client"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// agentTurns is how many turns are measured.
const agentTurns = 20

// stage is a daemon with a real Claude Code in a terminal, and a scripted model on loopback.
type stage struct {
	dir   string
	model scripted.Server
	cmd   *exec.Cmd
	c     *client.Client
}

func newStage(ctx context.Context) (*stage, error) {
	bin, err := build()
	if err != nil {
		return nil, err
	}
	tools := os.Getenv("TANDEM_TEST_TOOLS")
	if tools == "" {
		tools = filepath.Join(os.Getenv("HOME"), ".cache", "tandem-test")
	}
	claude := filepath.Join(tools, "npm", "node_modules", ".bin", "claude")
	if _, err := os.Stat(claude); err != nil {
		return nil, fmt.Errorf("claude is missing: run make test-tools")
	}
	s := &stage{}
	if s.dir, err = scratch("ta"); err != nil {
		return nil, err
	}
	if err := errors.Join(s.model.Start("127.0.0.1:0"), os.MkdirAll(s.project(), 0o700),
		os.WriteFile(filepath.Join(s.dir, "home", ".claude.json"), []byte(`{"hasCompletedOnboarding":true}`), 0o600)); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(bin, "serve", "--on-demand")
	s.cmd.Env = []string{"HOME=" + filepath.Join(s.dir, "home"), "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color",
		"ANTHROPIC_BASE_URL=" + s.model.URL(), "ANTHROPIC_AUTH_TOKEN=dummy", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1", "IS_SANDBOX=1", "TANDEM_CLAUDE=" + claude,
		"TANDEM_TMUX_SOCKET=" + s.tmux(),
		"TANDEM_WAIT_MS=90000", "TANDEM_CONFINE=none", "TANDEM_PROBE=0"}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.c = client.Socket(filepath.Join(s.dir, "home", ".tandem", "tandem.sock"))
	return s, s.c.Healthy(ctx)
}

func (s *stage) project() string { return filepath.Join(s.dir, "home", "code") }
func (s *stage) tmux() string    { return filepath.Join(s.dir, "tmux.sock") }

func (s *stage) stop() error {
	_ = s.c.Call(context.Background(), "session.close", terminal.NameIn{Name: "a"}, nil) // it may not have been opened
	_ = exec.Command("tmux", "-S", s.tmux(), "kill-server").Run()                        // it ends with its last session
	err := s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	return errors.Join(err, s.model.Close())
}

// idle is when Claude Code itself says that it became idle.
func (s *stage) idle() (time.Time, error) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(s.dir, "home", ".claude", "sessions", "*.json"))
		for _, f := range files {
			var r struct {
				Status  string `json:"status"`
				Changed int64  `json:"statusUpdatedAt"`
			}
			if data, err := os.ReadFile(f); err == nil && json.Unmarshal(data, &r) == nil && r.Status == "idle" {
				return time.UnixMilli(r.Changed), nil
			}
		}
	}
	return time.Time{}, errors.New("the program never said that it is idle")
}

// polled is the way of the bridge that came before: three equal screens, 750 ms apart, without the word that stands there
// while the program works. It returns when it would have reported.
func (s *stage) polled(ctx context.Context, reported chan<- time.Time) {
	var last string
	same, changed := 0, false
	for ctx.Err() == nil {
		out, err := exec.CommandContext(ctx, "tmux", "-S", s.tmux(), "capture-pane", "-p", "-t", "=ccm-a:").Output()
		text := strings.TrimSpace(string(out))
		switch busy := strings.Contains(text, "esc to interrupt"); {
		case err != nil:
		case text != last:
			changed, same, last = changed || last != "" || busy, 1, text
		case !busy:
			same++
		}
		if changed && same >= 3 {
			reported <- time.Now()
			return
		}
		time.Sleep(750 * time.Millisecond)
	}
}

// realAgents measures how soon the end of a real agent's turn is known.
func realAgents(int) (s section, err error) {
	s = section{title: "Sessions with real agents", how: fmt.Sprintf("%d turns of a real Claude Code in a terminal, "+
		"a scripted model on loopback. From the moment at which the program itself says that it is idle until the end of the turn is "+
		"recorded; beside it, on the same turns, the bridge that came before: three equal screens, 750 ms apart. "+
		"`make soak ROOM=session/terminal` runs 200.", agentTurns)}
	ctx := context.Background()
	st, err := newStage(ctx)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, st.stop()) }()
	var seat terminal.Seat
	if err := st.c.Call(ctx, "session.open", terminal.OpenIn{Name: "a", Cwd: st.project()}, &seat); err != nil {
		return s, err
	}
	var ours, theirs, whole []time.Duration
	wrong := 0
	for i := range agentTurns {
		pctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		seen := make(chan time.Time, 1)
		go st.polled(pctx, seen)
		word := fmt.Sprintf("turn-%d-of-many", i)
		began := time.Now()
		var out terminal.SendOut
		if err := st.c.Call(ctx, "session.send", terminal.SendIn{Name: "a", Text: word + " [[say said " + word + "]]"}, &out); err != nil {
			cancel()
			return s, err
		}
		whole = append(whole, time.Since(began))
		if out.Status != "done" || out.Report != "said "+word {
			wrong++
		}
		idle, err := st.idle()
		if err != nil {
			cancel()
			return s, err
		}
		var turns session.TurnsOut
		if err := st.c.Call(ctx, "session.turns", session.TurnIn{ID: seat.Session, Turn: out.Turn}, &turns); err != nil || len(turns.Turns) != 1 {
			cancel()
			return s, errors.Join(err, errors.New("the turn is not recorded"))
		}
		ours = append(ours, max(turns.Turns[0].EndedAt.Sub(idle), 0))
		select {
		case at := <-seen:
			theirs = append(theirs, max(at.Sub(idle), 0))
		case <-pctx.Done():
		}
		cancel()
	}
	for _, list := range [][]time.Duration{ours, theirs, whole} {
		slices.Sort(list)
	}
	middle := func(list []time.Duration) time.Duration {
		if len(list) == 0 {
			return 0
		}
		return list[len(list)/2].Round(time.Millisecond)
	}
	mine, peer := middle(ours), middle(theirs)
	s.figures = []figure{
		{what: "turns delivered once, with the right end", value: fmt.Sprintf("%d of %d", agentTurns-wrong, agentTurns), target: "all",
			met: wrong == 0},
		{what: "idle to reported, median", value: mine.String(),
			compared: fmt.Sprintf("three equal screens: %v (%.0f times as long)", peer, float64(peer)/float64(max(mine, time.Millisecond))),
			target:   "< 300 ms", met: mine < 300*time.Millisecond},
		{what: "idle to reported, slowest", value: ours[len(ours)-1].Round(time.Millisecond).String()},
		{what: "a whole turn, typed and answered, median", value: middle(whole).String()},
	}
	return s, nil
}
