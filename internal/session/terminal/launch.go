package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/session/agents"
	"tandem/internal/session/terminal/tmux"
)

// Launch is a program to become: what `tandem launch FILE` reads. Going through a file keeps the environment, which may
// hold keys, out of every command line.
type Launch struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	// Server runs beside the program, which is attached to it: first the server, until its socket answers, then the program.
	// When one of them ends the other is ended.
	Server []string `json:"server,omitempty"`
	Socket string   `json:"socket,omitempty"`
	Log    string   `json:"log,omitempty"` // what the server prints

	// What a confined program needs beside its home: folders to see, and one to use as its /tmp.
	see []string
	tmp string
}

// tmuxEnv is what tmux itself sees of our environment.
func tmuxEnv(from []string) []string {
	out := []string{"TERM=xterm-256color"}
	for _, kv := range from {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "HOME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "USER", "SHELL", "TMPDIR", "TMUX_TMPDIR":
			out = append(out, kv)
		}
	}
	return out
}

// newConversation is a random UUID, the form the program wants.
func newConversation() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// find is a program's real path.
func (d *Driver) find(agent string) (string, error) {
	names := map[string][2]string{agents.ClaudeName: {"Claude Code", d.Claude}, agents.CodexName: {"Codex", d.Codex},
		agents.OpenCodeName: {"OpenCode", d.OpenCode}}
	n := names[agent]
	name := orElse(n[1], agent)
	path := name
	if !filepath.IsAbs(name) {
		path = ""
		for _, kv := range d.Env {
			if list, ok := strings.CutPrefix(kv, "PATH="); ok {
				for _, dir := range filepath.SplitList(list) {
					p := filepath.Join(dir, name)
					if st, err := os.Stat(p); path == "" && err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
						path = p
					}
				}
			}
		}
	}
	if path == "" {
		return "", fault.New(fault.Conflict, "session.open", "the server finds no %s: there is no %s on the path that it was started with",
			n[0], name).WithNext("install it; where your shell finds it, have the server look there, too: tandem up --replace; "+
			"or name it: tandem settings set %s /path/to/%s", agent, agent)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fault.New(fault.Conflict, "session.open", "%s cannot be started: %v", path, err)
	}
	switch agent {
	case agents.CodexName:
		real = agents.Native(real, agents.CodexNative...)
	case agents.OpenCodeName:
		real = agents.Native(real, "bin/opencode.exe")
	}
	return real, nil
}

// data is tandem's own folder, real path.
func (d *Driver) data() string {
	dir := filepath.Dir(d.Folder)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// folder is the session's own: its socket, its configuration.
func (s *seat) folder() string { return filepath.Join(s.d.Folder, s.row.Session) }

// listen opens the session's own door.
func (s *seat) listen() error {
	path, err := s.d.OpenSocket(s.d.caller(s.row.Tenant, s.row.Session), s.row.Session)
	s.socket = path
	return err
}

// allowed looks at the folder again: the allowlist may have changed since, and the folder may have been replaced by a link. The
// folder of a probe is tandem's own.
func (s *seat) allowed() error {
	if s.stage != nil {
		return nil
	}
	real, err := s.d.Allow.Real(orElse(s.row.Repo, s.row.Folder))
	if err == nil && s.row.Repo != "" { // its own checkout lies beside a repository that is in the list
		real, err = filepath.EvalSymlinks(s.row.Folder)
	}
	if err == nil && real != s.row.Folder {
		return fault.New(fault.Denied, "session.open", "%s is now a link to somewhere else", s.row.Folder)
	}
	return err
}

// launch starts the program in its terminal, or puts it in the place of one that ended.
func (s *seat) launch(ctx context.Context) error {
	d := s.d
	if err := d.tmux.Missing(); err != nil {
		return err
	}
	if err := s.allowed(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.folder(), 0o700); err != nil {
		return err
	}
	if s.row.Own = s.row.Confined == "bwrap" && s.stage == nil; s.row.Own {
		if err := s.furnish(ctx); err != nil {
			return err
		}
	}
	l, err := s.prog.prepare(ctx)
	if err == nil && s.stage == nil {
		l.Env, err = s.named(l.Env)
	}
	if err != nil {
		return err
	}
	if s.row.Confined == "bwrap" {
		if l, err = s.confine(ctx, l); err != nil {
			return err
		}
	}
	file := filepath.Join(s.folder(), "launch.json")
	if err := agents.WriteJSON(file, l); err != nil {
		return err
	}
	spec := tmux.Spec{Name: s.row.Name, Folder: s.row.Folder, Argv: []string{d.Self, "launch", file}, Env: tmuxEnv(d.Env), Width: 160,
		Height: 50}
	if _, err := d.tmux.Pane(ctx, s.row.Name); err == nil {
		err = d.tmux.Respawn(ctx, spec)
		if err != nil {
			return err
		}
	} else if err := d.tmux.Open(ctx, spec); err != nil {
		return err
	}
	s.prog.launched()
	s.set(Starting, "launch", "")
	return nil
}

// named is an environment in which tandem is found by its name: a person's own folder of programs, such as ~/.local/bin, is out of a
// confined program's sight.
func (s *seat) named(env []string) ([]string, error) {
	bin := filepath.Join(s.folder(), "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return nil, err
	}
	link := filepath.Join(bin, "tandem")
	if to, err := os.Readlink(link); err != nil || to != s.d.Self {
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err := os.Symlink(s.d.Self, link); err != nil {
			return nil, err
		}
	}
	env = slices.Clone(env)
	for i, kv := range env {
		if strings.HasPrefix(kv, "PATH=") {
			env[i] = kv + string(os.PathListSeparator) + bin
		}
	}
	return env, nil
}

// place is what is shown of where a program lies: its folder, with its helpers, or the program alone where that folder holds the
// home folder, tandem's data or everybody's temporary files.
func (d *Driver) place(program string) string {
	dir := filepath.Dir(program)
	for _, kept := range []string{d.Home, d.data(), os.TempDir()} {
		real, err := filepath.EvalSymlinks(kept)
		if err != nil {
			real = kept
		}
		for _, p := range []string{kept, real} {
			if rel, err := filepath.Rel(dir, p); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				return program
			}
		}
	}
	return dir
}
