package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/logfile"
)

// event is what is told, with its handoff.
func (x item) event(ctx context.Context) Event {
	e := x.notice.Event
	e.Handoff = handoff(ctx, x.notice)
	return e
}

// write adds a line to events.log, unless the server before this one did and was killed before it could note so.
func (n *Notifier) write(ctx context.Context, x item) error {
	n.look.Do(func() { n.before = lines(n.File) })
	if n.before[known(x.notice.Event)] {
		return nil
	}
	line, err := json.Marshal(x.event(ctx))
	if err != nil {
		return err
	}
	f, err := logfile.Open(n.File)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// lines are the newest of events.log, more than can have been written without a note.
func lines(path string) map[string]bool {
	const newest = 4 << 20
	data, err := os.ReadFile(path)
	if err != nil {
		return nil // there is none yet; where there is one that cannot be read, a line too many is better than one too few
	}
	out := map[string]bool{}
	for line := range bytes.Lines(data[max(0, len(data)-newest):]) {
		var e Event
		if json.Unmarshal(line, &e) == nil {
			out[known(e)] = true
		}
	}
	return out
}

// known is an event as it is told apart from others: its handoff is found anew whenever it is told.
func known(e Event) string {
	e.Handoff = Event{}.Handoff
	line, _ := json.Marshal(e) // it has nothing that cannot be written
	return string(line)
}

// call calls the webhook. A notice that waited for a restart without one is dropped.
func (n *Notifier) call(ctx context.Context, x item) error {
	if n.Webhook == "" {
		return nil
	}
	body, err := json.Marshal(x.event(ctx))
	if err != nil {
		return err
	}
	h := map[string]string{"Content-Type": "application/json", "Tandem-Notice": x.id}
	if len(n.Secret) > 0 {
		mac := hmac.New(sha256.New, n.Secret)
		mac.Write(body)
		h["Tandem-Signature"] = "sha256=" + hex.EncodeToString(mac.Sum(nil))
	}
	return post(ctx, n.Webhook, body, h)
}

// noLink tells a person whose phone does not reach the panel how it would.
const noLink = "No link, because the panel has no address that a phone reaches. Name one: tandem phone set --address https://…"

// push wakes a phone. It goes through somebody else's server, so that it says who and what kind and no more, unless the person chose
// more. Its link leads to a page of the panel, and decides nothing.
func (n *Notifier) push(ctx context.Context, x item) error {
	topic := n.Topic()
	if topic == "" {
		return nil
	}
	if x.notice.Name != "" && !n.Details {
		x.notice.ID = x.notice.Name
	}
	h := map[string]string{"Title": mime.QEncoding.Encode("utf-8", x.notice.title())}
	if x.notice.Push == Answer || x.notice.Push == Urgent {
		h["Priority"] = "urgent"
	}
	body := x.notice.says()
	if n.Details {
		e := x.event(ctx)
		body = e.Handoff
		if x.notice.Push == Answer {
			body = e.Summary + "\n\n" + body
		}
	}
	if panel := n.panel(); panel != "" {
		h["Click"] = panel + x.notice.Page
	} else {
		body += "\n\n" + noLink
	}
	return post(ctx, n.at(topic), []byte(body), h)
}

func (n *Notifier) panel() string {
	if n.Panel == nil {
		return ""
	}
	return n.Panel()
}

// title names whose it is, and what happened.
func (e Notice) title() string { return "tandem: " + e.ID + " " + e.says() }

// says is what happened. A turn that failed is not called done.
func (e Notice) says() string {
	switch {
	case e.Says != "":
		return e.Says
	case e.Push == Answer || e.Push == Urgent:
		return string(e.Push)
	}
	return e.Status
}

// handoff is a block that a person can paste into a chat.
func handoff(ctx context.Context, e Notice) string {
	if e.Says != "" && e.Folder == "" { // nothing ended
		return fmt.Sprintf("CC check — %s %q %s.\nWhat: %s\nNext: %s", e.Type, e.ID, e.Says, e.Summary, e.Next)
	}
	commit, files := "none", "unknown"
	if e.Left != nil {
		if e.Left.Commit != "" {
			commit = e.Left.Commit[:min(len(e.Left.Commit), 12)]
		}
		if e.Left.Files >= 0 {
			files = fmt.Sprint(e.Left.Files)
		}
	} else if e.Folder != "" {
		if out, err := git(ctx, e.Folder, "rev-parse", "--short", "HEAD"); err == nil {
			commit = out
			if names, err := git(ctx, e.Folder, "diff-tree", "--no-commit-id", "--name-only", "-r", "--root", "HEAD"); err == nil {
				files = fmt.Sprint(len(strings.Fields(names)))
			}
		}
	}
	next := e.Next
	if next == "" {
		next = "Review the output and decide the next step."
	}
	return fmt.Sprintf("CC check — %s %q finished (%s).\nSummary: %s\nCommit: %s\nFiles changed: %s\nNext: %s", e.Type, e.ID, e.Status,
		e.Summary, commit, files, next)
}

// git reads from a repository that an agent may have prepared: only commands that run no filter, hook or helper of its
// configuration, for at most three seconds. What is missing in a partial clone is not fetched, since the repository names the
// program for that, too; allowing no protocol says the same to versions of git before 2.45.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", folder, "--no-pager", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "HOME=" + filepath.Dir(os.DevNull)}
	cmd.WaitDelay = 200 * time.Millisecond
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// outward is the way to the one address that a person configured. It leads nowhere else: a redirect is an answer like any other, and the
// environment's proxy does not see what is told.
func outward(url string) *http.Client {
	t := (&egress.Guard{Origins: []string{url}}).Transport()
	t.DisableKeepAlives = true
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func post(ctx context.Context, url string, body []byte, header map[string]string) error {
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
	resp, err := outward(url).Do(req)
	if err != nil {
		return fault.New(fault.Unavailable, "notify", "nobody answered") // the error would name the address, which is a secret
	}
	resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fault.New(fault.Unavailable, "notify", "the answer was %s", resp.Status)
	}
	return nil
}
