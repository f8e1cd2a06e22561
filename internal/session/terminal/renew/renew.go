// Package renew keeps a person's sign-in with an agent program alive while
// confined sessions use it. What renews a sign-in works once, so a session that
// had a copy of it would sign the person out: sessions are lent the access
// token alone, and one Broker outside of every box renews it shortly before it
// ends, under the program's own lock, and writes what came back where the
// person's program keeps it. From there it is lent anew.
//
// It knows Claude Code and Codex. OpenCode's sign-ins belong to its plugins,
// each with an issuer of its own: they are lent and not renewed.
package renew

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tandem/internal/session/agents"
	"tandem/internal/wholefile"
)

const (
	// early is how long before its end a sign-in is renewed: before the programs themselves would, five minutes before it.
	early = 15 * time.Minute
	// patience is how long a renewal waits for the program's lock.
	patience = 20 * time.Second
	// again is how long after a failure the next attempt is made.
	again = time.Minute
	// maxAnswer bounds what an issuer says, and what a sign-in may be.
	maxAnswer = 1 << 20
)

// Broker renews sign-ins.
type Broker struct {
	Client *http.Client
	// Issuers are the addresses at which sign-ins are renewed, by program. What is missing is the program's own.
	Issuers map[string]string
	Env     []string // a program's own variables may name its issuer
	Now     func() time.Time
	Log     *slog.Logger

	mu    sync.Mutex
	files map[string]*file
}

// file is what the broker remembers of one sign-in.
type file struct {
	busy    sync.Mutex
	not     time.Time // no attempt before this
	refused string    // the token that the issuer refused
}

// New makes a broker for programs with this environment.
func New(env []string, now func() time.Time, log *slog.Logger) *Broker {
	client := &http.Client{Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Broker{Client: client, Env: env, Now: now, Log: log}
}

func (b *Broker) file(path string) *file {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.files == nil {
		b.files = map[string]*file{}
	}
	if b.files[path] == nil {
		b.files[path] = &file{}
	}
	return b.files[path]
}

// Due reports whether a program's sign-in should be renewed now, and nobody is at it.
func (b *Broker) Due(agent, config string) bool {
	path, err := place(agent, config)
	if err != nil {
		return false
	}
	f := b.file(path)
	if !f.busy.TryLock() {
		return false
	}
	defer f.busy.Unlock()
	_, _, due := b.due(agent, path, f)
	return due
}

// due reads the sign-in. One that cannot be read is being written, or is none.
func (b *Broker) due(agent, path string, f *file) ([]byte, signIn, bool) {
	data, err := read(path)
	if err != nil {
		return nil, signIn{}, false
	}
	s, err := parse(agent, data)
	now := b.Now()
	due := err == nil && s.refresh != "" && !s.ends.IsZero() && now.After(s.ends.Add(-early)) && !now.Before(f.not) && s.refresh != f.refused
	return data, s, due
}

// Renew renews a program's sign-in if that is due. Whoever comes while it is being renewed waits for the end.
func (b *Broker) Renew(ctx context.Context, agent, config string) error {
	path, err := place(agent, config)
	if err != nil {
		return nil //nolint:nilerr // there is no sign-in
	}
	f := b.file(path)
	f.busy.Lock()
	defer f.busy.Unlock()
	if _, _, due := b.due(agent, path, f); !due {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f.not = b.Now().Add(again)
	free, err := lock(ctx, agent, filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("wait for %s, which may be renewing its sign-in: %w", agent, err)
	}
	defer free()
	f.not = time.Time{}
	data, s, due := b.due(agent, path, f) // the program may have been first
	if !due {
		return nil
	}
	f.not = b.Now().Add(again)
	answer, err := b.ask(context.WithoutCancel(ctx), agent, s) // once it is asked, what comes back has to be kept
	var refusal refused
	if errors.As(err, &refusal) {
		f.refused = s.refresh
	}
	if err != nil {
		return err
	}
	fresh, ends, err := renewed(agent, data, answer, b.Now())
	if err != nil {
		return err
	}
	if err := replace(agent, path, s.refresh, fresh); err != nil {
		return err
	}
	f.not = b.Now().Add(ends.Sub(b.Now()) / 2) // an issuer of short sign-ins is not asked all the time
	b.Log.Info("renewed a sign-in", "agent", agent, "until", ends)
	return nil
}

// refused says that the issuer does not take what renews the sign-in: asking again changes nothing.
type refused struct {
	agent  string
	status int
}

func (r refused) Error() string {
	return fmt.Sprintf("the sign-in of %s was not renewed: its issuer answered %d", r.agent, r.status)
}

func (b *Broker) ask(ctx context.Context, agent string, s signIn) ([]byte, error) {
	body, err := s.request()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.issuer(agent), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "tandem")
	res, err := b.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("renew the sign-in of %s: %w", agent, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("renew the sign-in of %s: %w", agent, err)
	case res.StatusCode == http.StatusBadRequest, res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return nil, refused{agent, res.StatusCode}
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the issuer of %s answered %d", agent, res.StatusCode)
	}
	return answer, nil
}

// place is where a sign-in really lies: a person may keep it elsewhere, behind a link.
func place(agent, config string) (string, error) {
	if agent != agents.ClaudeName && agent != agents.CodexName {
		return "", os.ErrNotExist
	}
	return filepath.EvalSymlinks(agents.SignInFile(agent, config))
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxAnswer))
}

// replace puts the renewed sign-in in the place of the one it was made from. If the person signed in anew meanwhile, theirs stays.
func replace(agent, path, from string, fresh []byte) error {
	data, err := read(path)
	if err != nil {
		return err
	}
	if now, err := parse(agent, data); err != nil || now.refresh != from {
		return fmt.Errorf("the sign-in of %s changed while it was renewed, and stays as it is", agent)
	}
	return wholefile.Write(path, fresh)
}
