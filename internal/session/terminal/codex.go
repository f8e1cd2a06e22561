package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session/agents"
	"tandem/internal/session/screen"
	"tandem/internal/session/terminal/codex"
)

// codexProgram is Codex: its app-server on a socket, with the terminal's program attached to it.
type codexProgram struct{}

func (codexProgram) signal() string { return "app-server" }

// socketName is the server's socket; where the program is confined it lies in what it sees as /tmp. Each start has one of its own: a server
// that is still on its way out takes its own along, and not that of the one that follows it.
func (s *seat) socketName() string { return orElse(s.row.Socket, "app.sock") }

// secluded is where a confined server's socket goes once the terminal's program is attached: out of sight of what the agent
// runs, which could otherwise answer its own permissions there. A socket keeps its listener when it is moved.
func (s *seat) secluded() string { return s.folder() + ".sock" }

// attached waits for the terminal's program, which does not get through to a conversation that goes on before it is there; then
// it moves the socket of a confined one. A screen that is not understood is not waited for longer than grace.
func (p codexProgram) attached(ctx context.Context, s *spoken) (bool, error) {
	if _, err := os.Lstat(s.secluded()); err == nil {
		return true, nil
	}
	if r, err := s.screen(ctx); err != nil || (r.State == screen.Unknown || r.State == screen.Working) && time.Since(s.born) < grace {
		return false, err
	}
	if s.row.Confined != "bwrap" {
		return true, nil
	}
	from, err := p.outside(s)
	if err != nil {
		return false, err
	}
	err = os.Rename(from, s.secluded())
	return err == nil, err
}

// outside is the socket as we see it. The server puts its real socket below /tmp and makes a link to it.
func (codexProgram) outside(s *spoken) (string, error) {
	path, tmp := filepath.Join(s.folder(), s.socketName()), ""
	if s.row.Confined == "bwrap" {
		if _, err := os.Lstat(s.secluded()); err == nil {
			return s.secluded(), nil
		}
		tmp = filepath.Join(s.folder(), "tmp")
		path = filepath.Join(tmp, s.socketName())
	}
	target, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	if tmp != "" {
		below, ok := strings.CutPrefix(target, "/tmp/")
		if !ok || !filepath.IsLocal(below) {
			return "", fmt.Errorf("the socket leads to %s", target)
		}
		target = filepath.Join(tmp, below)
	}
	return target, nil
}

func (p codexProgram) prepare(ctx context.Context, s *spoken) (Launch, error) {
	d := s.d
	if !d.Answers {
		return Launch{}, fault.New(fault.Conflict, "session.open",
			"Codex shows its dialogs to whoever is at the terminal, and answers there do not count here (TANDEM_TERMINAL_ANSWERS=0)").
			WithNext("open a Claude Code session, or let answers at the terminal count")
	}
	if err := os.Remove(filepath.Join(s.folder(), s.socketName())); err != nil && !os.IsNotExist(err) {
		return Launch{}, err
	}
	s.row.Socket = "app-" + newConversation()[:8] + ".sock"
	c := agents.Codex{Narrow: s.row.Narrow, Reads: s.row.Reads, Program: s.row.Program, Self: d.Self, Project: s.row.Folder,
		Socket: filepath.Join(s.folder(), s.socketName()), Session: s.socket, ID: s.row.Session,
		Model: s.row.Model, Effort: s.row.Effort, Skip: s.row.Skip, Dressed: s.row.Own}
	l := Launch{Env: append(s.environment(), "TANDEM_HOLD_TOOLS=1"), Log: filepath.Join(s.folder(), "app-server.log")}
	if strings.HasPrefix(s.configAt(), "/tmp/") {
		return l, fault.New(fault.Conflict, "session.open", "Codex cannot sandbox its commands while its own folder, %s, lies below /tmp",
			s.configAt()).
			WithNext("give it one elsewhere: CODEX_HOME=/var/lib/codex tandem up --replace")
	}
	if s.row.Confined == "bwrap" {
		l.tmp = filepath.Join(s.folder(), "tmp")
		for _, old := range []string{l.tmp, s.secluded()} {
			if err := os.RemoveAll(old); err != nil {
				return l, err
			}
		}
		if err := os.MkdirAll(l.tmp, 0o700); err != nil {
			return l, err
		}
		c.Socket, l.Log = "/tmp/"+s.socketName(), "/tmp/app-server.log"
	}
	l.see = []string{d.place(filepath.Dir(s.row.Program))} // its helpers lie beside the folder of the program itself
	if s.row.Begun = s.row.Begun && s.recorded(); s.row.Begun {
		c.Conversation = s.row.Conversation
	} else {
		s.row.Conversation = ""
	}
	var hash string
	var err error
	for range 2 { // one that starts at the same moment may be in its way
		hash, err = codex.Guard(ctx, c, func(ctx context.Context, argv []string) (*exec.Cmd, func(), error) { return s.beside(ctx, l, argv) })
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return l, fault.New(fault.Conflict, "session.open", "this Codex does not run tandem's guard before its tools: %v", err).
			WithNext("use a version that has hooks; 0.166.0 is known to work")
	}
	c.Hash = hash
	l.Argv, l.Server, l.Socket = c.Argv(), c.Server(), c.Socket
	return l, nil
}

func (p codexProgram) connect(ctx context.Context, s *spoken) (agents.Link, error) {
	path, err := p.outside(s)
	if err != nil {
		return nil, err
	}
	link, err := codex.Open(ctx, path, s.row.Conversation, !s.row.Skip, codex.Defaults{Model: s.row.Model, Effort: s.row.Effort})
	if err != nil {
		return nil, err
	}
	return link, nil
}

// environment is what the program sees.
func (s *seat) environment() []string {
	if s.stage != nil {
		return s.stage.Environment(s.row.Agent, s.d.Env, "TANDEM_SESSION_SOCKET="+s.socket, "TANDEM_SESSION="+s.row.Session)
	}
	return agents.Environment(s.row.Agent, s.d.Env, "TANDEM_SESSION_SOCKET="+s.socket, "TANDEM_SESSION="+s.row.Session)
}
