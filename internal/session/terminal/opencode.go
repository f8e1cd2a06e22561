package terminal

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/session/agents"
	"tandem/internal/session/terminal/opencode"
)

// openCode is OpenCode: one process that is both the terminal's program and a server on loopback.
type openCode struct{}

func (openCode) signal() string { return "event stream" }

func (openCode) prepare(_ context.Context, s *spoken) (Launch, error) {
	d := s.d
	if !d.Answers {
		return Launch{}, fault.New(fault.Conflict, "session.open",
			"OpenCode shows its dialogs to whoever is at the terminal, and answers there do not count here (TANDEM_TERMINAL_ANSWERS=0)").
			WithNext("open a Claude Code session, or let answers at the terminal count")
	}
	if s.row.Skip {
		return Launch{}, fault.New(fault.Conflict, "session.open", "OpenCode is not started without permissions").
			WithNext("open it without skip_permissions, or use Claude Code or Codex")
	}
	port, err := freePort()
	if err != nil {
		return Launch{}, err
	}
	// The password keeps other users of this machine out; the program itself has to know it.
	s.row.Port, s.row.Password = port, newConversation()
	o := agents.OpenCode{Narrow: s.row.Narrow, Reads: s.row.Reads,
		Program: s.row.Program, Self: d.Self, Project: s.row.Folder, Socket: s.socket,
		ID: s.row.Session, Port: port, Model: s.row.Model, Password: s.row.Password}
	if s.stage == nil {
		o.Home = d.Home
	}
	if _, err := os.Stat(filepath.Join(s.host(s.configAt()), "opencode.db")); s.row.Own && err != nil {
		s.row.Begun = false // its conversations are in a database of the home in which they were had
	}
	if s.row.Begun {
		o.Resume = s.row.Conversation
	} else {
		s.row.Conversation = ""
	}
	env, err := o.Environment()
	if err != nil {
		return Launch{}, err
	}
	l := Launch{Argv: o.Argv(), Env: append(s.environment(), env...)}
	return l, nil
}

func (openCode) connect(ctx context.Context, s *spoken) (agents.Link, error) {
	link, err := opencode.Open(ctx, opencode.Server{Port: s.row.Port, Password: s.row.Password}, s.row.Conversation)
	if err != nil {
		return nil, err
	}
	return link, nil
}

// attached is always so: the server is the program. It is on loopback, and the program's own environment holds the password, so
// what the agent runs can reach it, and the session says so.
func (openCode) attached(context.Context, *spoken) (bool, error) { return true, nil }

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
