// Package notify tells people and programs that work has ended: a line in events.log, a signed call of a webhook, a push to a
// phone by ntfy. It decides nothing: a push points to where a person decides. What it could not deliver it says in the log;
// the line in events.log is always written first.
package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/internal/fault"
)

// Event is one line of events.log.
type Event struct {
	TS      time.Time `json:"ts"`
	Type    string    `json:"type"` // session or relay
	Status  string    `json:"status"`
	ID      string    `json:"id"`
	Cursor  int64     `json:"cursor"`
	Summary string    `json:"summary"`
	Reason  string    `json:"reason"`
	Handoff string    `json:"handoff"`

	Folder string `json:"-"` // for the commit in the handoff
	Next   string `json:"-"`
	Push   Push   `json:"-"`
}

// Push says whether a phone is woken, and how.
type Push string

// The kinds of push.
const (
	Quiet  Push = ""
	Normal Push = "done"
	Answer Push = "NEEDS YOUR ANSWER"
	Urgent Push = "NEEDS YOU"
)

// Config says where notices go. Empty fields are off.
type Config struct {
	File    string // events.log
	Webhook string
	Secret  []byte // signs the webhook's body; without one it is not signed
	Server  string // of ntfy
	Topic   string
	Click   string // where a push leads
}

// Notifier sends notices, in order, without holding up whoever reports.
type Notifier struct {
	Config
	log   *slog.Logger
	queue chan Event
	file  sync.Mutex
	wait  func(int) time.Duration
}

// New makes a notifier. It sends nothing until Run.
func New(c Config, log *slog.Logger) *Notifier {
	return &Notifier{Config: c, log: log, queue: make(chan Event, 1024), wait: func(try int) time.Duration { return time.Second << (2 * try) }}
}

// Tell takes a notice. The line is written before it returns; the rest follows.
func (n *Notifier) Tell(e Event) {
	e.Handoff = n.handoff(e)
	if err := n.write(e); err != nil {
		n.log.Error("write events.log", "err", err)
	}
	select {
	case n.queue <- e:
	default:
		n.log.Warn("too many notices wait; one is only in events.log", "id", e.ID)
	}
}

// Run delivers until ctx ends.
func (n *Notifier) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-n.queue:
			n.deliver(ctx, e)
		}
	}
}

func (n *Notifier) write(e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	n.file.Lock()
	defer n.file.Unlock()
	f, err := os.OpenFile(n.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// handoff is a block that a person can paste into a chat.
func (n *Notifier) handoff(e Event) string {
	commit, files := "none", "unknown"
	if e.Folder != "" {
		if out, err := git(e.Folder, "rev-parse", "--short", "HEAD"); err == nil {
			commit = out
			if names, err := git(e.Folder, "diff-tree", "--no-commit-id", "--name-only", "-r", "--root", "HEAD"); err == nil {
				files = fmt.Sprint(len(strings.Fields(names)))
			}
		}
	}
	next := e.Next
	if next == "" {
		next = "Review the output and decide the next step."
	}
	return fmt.Sprintf("CC check — %s %q finished (%s).\nSummary: %s\nCommit: %s\nFiles changed: %s\nNext: %s", e.Type, e.ID, e.Status, e.Summary, commit, files, next)
}

// git reads from a repository that an agent may have prepared: only commands that run no filter, hook or helper of its
// configuration, for at most three seconds.
func git(folder string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder, "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "HOME=" + filepath.Dir(os.DevNull)}
	cmd.WaitDelay = 200 * time.Millisecond
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

const tries = 5

func (n *Notifier) deliver(ctx context.Context, e Event) {
	if n.Webhook != "" {
		body, err := json.Marshal(e)
		if err == nil {
			h := map[string]string{"Content-Type": "application/json"}
			if len(n.Secret) > 0 {
				mac := hmac.New(sha256.New, n.Secret)
				mac.Write(body)
				h["Tandem-Signature"] = "sha256=" + hex.EncodeToString(mac.Sum(nil))
			}
			n.post(ctx, "webhook", n.Webhook, body, h)
		}
	}
	if n.Topic != "" && e.Push != Quiet {
		h := map[string]string{"Title": fmt.Sprintf("tandem: %s %s", e.ID, e.Push), "Click": n.Click}
		if e.Push == Answer || e.Push == Urgent {
			h["Priority"] = "urgent"
		}
		body := e.Handoff
		if e.Push == Answer {
			body = e.Summary + "\n\n" + body
		}
		n.post(ctx, "ntfy", strings.TrimSuffix(n.Server, "/")+"/"+n.Topic, []byte(body), h)
	}
}

// post tries a few times, further and further apart.
func (n *Notifier) post(ctx context.Context, what, url string, body []byte, header map[string]string) {
	for try := range tries {
		err := once(ctx, url, body, header)
		if err == nil || ctx.Err() != nil {
			return
		}
		n.log.Warn("notice not delivered", "to", what, "try", try+1, "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(n.wait(try)):
		}
	}
}

func once(ctx context.Context, url string, body []byte, header map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fault.New(fault.Invalid, "notify", "the address cannot be used")
	}
	for k, v := range header {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fault.New(fault.Unavailable, "notify", "nobody answered")
	}
	resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fault.New(fault.Unavailable, "notify", "the answer was %s", resp.Status)
	}
	return nil
}
