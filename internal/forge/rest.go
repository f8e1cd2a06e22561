package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/forge/wire"
	"tandem/internal/secret"
)

// Bounds of what is read from a forge.
const (
	maxAnswer  = 8 << 20
	maxPages   = 4
	perPage    = 50
	maxText    = 32 << 10 // of an issue
	maxSaid    = 4 << 10  // of a comment
	maxKept    = 100      // comments, reviews and checks of a pull request
	maxWaiting = 30 * time.Second
)

// forged is what this room needs of a forge. Both kinds sit the same exam: see contract_test.go.
type forged interface {
	// Can says why the token does not let tandem push and post there.
	Can(ctx context.Context) error
	Issue(ctx context.Context, n int64) (*wire.Issued, error)
	Issues(ctx context.Context) ([]*wire.Issued, error)
	// Find is the open pull request of a branch; nil where there is none.
	Find(ctx context.Context, branch, base string) (*there, error)
	Open(ctx context.Context, branch, base, title, text string) (*there, error)
	Edit(ctx context.Context, n int64, title, text string) error
	Pull(ctx context.Context, n int64) (*there, error)
	Comments(ctx context.Context, n int64) ([]wire.Comment, error)
	Reviews(ctx context.Context, n int64) ([]wire.Review, error)
	Checks(ctx context.Context, commit string) ([]wire.Check, error)
	Merge(ctx context.Context, n int64, commit, title string) error
}

// there is a pull request as its forge says it is.
type there struct {
	Number   int64     `json:"number"`
	State    string    `json:"state"`
	URL      string    `json:"html_url"`
	Merged   bool      `json:"merged"`
	MergedAt time.Time `json:"merged_at"`
	As       string    `json:"merge_commit_sha"`
	MergedBy *user     `json:"merged_by"`
	Head     struct {
		Ref string `json:"ref"`
		SHA string `json:"sha"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

type user struct {
	Login string `json:"login"`
}

func (u *user) name() string {
	if u == nil || u.Login == "" {
		return "somebody"
	}
	return fault.Clip(u.Login, 60)
}

// rest is what both kinds have in common: the same routes below another root, with the token in another header.
type rest struct {
	client *http.Client
	root   string // of the API
	repo   string // OWNER/NAME
	name   string // what it is called here
	head   func(http.Header)
	left   int64            // how many bytes this visit may read
	lent   *secret.Redactor // knows the token: a forge that says it in an issue would tell it to agents
}

// errGone is what a forge does not have, or does not show.
var errGone = errors.New("not there")

// call asks the forge. What it answers beyond the bound, or with another address, is refused.
func (r *rest) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, maxWaiting)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	address := r.root + "/repos/" + r.repo + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "tandem")
	r.head(req.Header)
	res, err := r.client.Do(req)
	if err != nil {
		return r.away(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(res.Body, min(maxAnswer, r.left)+1))
	if err != nil {
		return r.away(err)
	}
	if r.left -= int64(len(text)); len(text) > maxAnswer || r.left < 0 {
		return fault.New(fault.Exhausted, "forge", "%s answers with more than %d bytes at once, or %d in all", r.name, maxAnswer, maxVisit).
			WithNext("look at it there: tandem forge show %s", r.name)
	}
	text = r.lent.JSON(text)
	if err := rate(r.name, res.StatusCode, res.Header, time.Now()); err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return r.refusal(res.StatusCode, text)
	}
	if out == nil || len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, out); errors.Is(err, errMany) {
		return fault.New(fault.Exhausted, "forge", "%s lists more than %d things at once", r.name, maxListed).
			WithNext("look at it there: tandem forge show %s", r.name)
	} else if err != nil {
		return fault.New(fault.Unavailable, "forge", "%s does not answer as a forge of its kind does", r.name).
			WithNext("see where it is: tandem forge show %s", r.name)
	}
	return nil
}

// away says that a forge was not reached; why is said where the guard said it.
func (r *rest) away(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.New(fault.Unavailable, "forge", "%s cannot be reached", r.name).WithNext("see where it is: tandem forge show %s", r.name)
}

// refusal is what a forge's status means here. Its own words are data, and short.
func (r *rest) refusal(status int, text []byte) error {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(text, &said) // without words the status says it
	words := fault.Clip(strings.Join(strings.Fields(said.Message), " "), 200)
	switch {
	case status < 400:
		return fault.New(fault.Conflict, "forge", "%s sends tandem elsewhere, and a token is not taken along", r.name).
			WithNext("add it anew with its own address: tandem forge add %s OWNER/REPO", r.name)
	case status == http.StatusNotFound:
		return fmt.Errorf("%s: %w", r.name, errGone)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.New(fault.Denied, "forge", "%s does not let the token do that (%d): %q", r.name, status, words).
			WithNext("add it anew with another token: tandem forge add %s OWNER/REPO", r.name)
	case status >= 500:
		return fault.New(fault.Unavailable, "forge", "%s has a problem of its own (%d)", r.name, status)
	}
	return fault.New(fault.Conflict, "forge", "%s refuses that (%d): %q", r.name, status, words)
}

// missing is the fault of something that a forge does not have.
func missing(err error, format string, args ...any) error {
	if !errors.Is(err, errGone) {
		return err
	}
	return fault.New(fault.NotFound, "forge", format, args...)
}

// Can reads the repository.
func (r *rest) Can(ctx context.Context) error {
	var repo struct {
		Permissions *struct {
			Push bool `json:"push"`
		} `json:"permissions"`
	}
	err := r.call(ctx, "GET", "", nil, nil, &repo)
	if err == nil && repo.Permissions != nil && !repo.Permissions.Push {
		return fault.New(fault.Denied, "forge.add", "the token may not push to %s", r.repo)
	}
	if errors.Is(err, errGone) {
		return fault.New(fault.NotFound, "forge.add", "there is no repository %s at that address, or the token may not see it", r.repo)
	}
	return err
}

type issue struct {
	Number int64     `json:"number"`
	Title  string    `json:"title"`
	Body   string    `json:"body"`
	State  string    `json:"state"`
	URL    string    `json:"html_url"`
	User   *user     `json:"user"`
	Pull   *struct{} `json:"pull_request"`
	Labels many[struct {
		Name string `json:"name"`
	}] `json:"labels"`
}

func (r *rest) issued(i issue) *wire.Issued {
	out := &wire.Issued{Ref: fmt.Sprintf("%s#%d", r.name, i.Number), Number: i.Number, Title: fault.Clip(i.Title, 300),
		Text: fault.Clip(i.Body, maxText), State: fault.Clip(i.State, 20), By: i.User.name(), URL: page(i.URL)}
	for _, l := range i.Labels[:min(len(i.Labels), 20)] {
		out.Labels = append(out.Labels, fault.Clip(l.Name, 60))
	}
	return out
}

// page is an address of a page, if it is one.
func page(address string) string {
	if u, err := url.Parse(address); err != nil || u.Scheme != "https" && u.Scheme != "http" || len(address) > 500 {
		return ""
	}
	return address
}

// Issue reads one issue.
func (r *rest) Issue(ctx context.Context, n int64) (*wire.Issued, error) {
	var i issue
	if err := r.call(ctx, "GET", fmt.Sprintf("/issues/%d", n), nil, nil, &i); err != nil {
		return nil, missing(err, "%s has no issue %d", r.name, n)
	}
	return r.issued(i), nil
}

// Issues lists open issues, newest first.
func (r *rest) Issues(ctx context.Context) ([]*wire.Issued, error) {
	var all many[issue]
	q := url.Values{"state": {"open"}, "type": {"issues"}, "per_page": {"50"}, "limit": {"50"}}
	if err := r.call(ctx, "GET", "/issues", q, nil, &all); err != nil {
		return nil, missing(err, "%s shows no issues", r.name)
	}
	out := []*wire.Issued{}
	for _, i := range all {
		if i.Pull == nil { // GitHub lists pull requests among them
			out = append(out, r.issued(i))
		}
	}
	return out, nil
}

// Open opens a pull request.
func (r *rest) Open(ctx context.Context, branch, base, title, text string) (*there, error) {
	var p there
	err := r.call(ctx, "POST", "/pulls", nil, map[string]string{"head": branch, "base": base, "title": title, "body": text}, &p)
	if err != nil {
		return nil, missing(err, "%s takes no pull requests for %s", r.name, base)
	}
	return &p, nil
}

// Edit changes a pull request's words.
func (r *rest) Edit(ctx context.Context, n int64, title, text string) error {
	err := r.call(ctx, "PATCH", fmt.Sprintf("/pulls/%d", n), nil, map[string]string{"title": title, "body": text}, nil)
	return missing(err, "%s has no pull request %d", r.name, n)
}

// Pull reads a pull request.
func (r *rest) Pull(ctx context.Context, n int64) (*there, error) {
	var p there
	if err := r.call(ctx, "GET", fmt.Sprintf("/pulls/%d", n), nil, nil, &p); err != nil {
		return nil, missing(err, "%s has no pull request %d", r.name, n)
	}
	return &p, nil
}

type comment struct {
	ID       int64     `json:"id"`
	Body     string    `json:"body"`
	User     *user     `json:"user"`
	At       time.Time `json:"created_at"`
	Path     string    `json:"path"`
	Line     int64     `json:"line"`
	Position int64     `json:"position"`
}

func (c comment) said(kind string) wire.Comment {
	return wire.Comment{ID: fmt.Sprintf("%s%d", kind, c.ID), By: c.User.name(), Text: fault.Clip(c.Body, maxSaid), At: c.At,
		File: fault.Clip(c.Path, 300), Line: max(c.Line, 0)}
}

// conversation reads comments below a path, page by page: a forge that knows no pages says the same again, which ends it.
func (r *rest) conversation(ctx context.Context, path, kind string) (out []wire.Comment, err error) {
	seen := map[string]bool{}
	for page := 1; page <= maxPages; page++ {
		var some many[comment]
		q := url.Values{"per_page": {fmt.Sprint(perPage)}, "limit": {fmt.Sprint(perPage)}, "page": {fmt.Sprint(page)}}
		if err := r.call(ctx, "GET", path, q, nil, &some); err != nil {
			return out, missing(err, "%s shows no comments there", r.name)
		}
		fresh := false
		for _, c := range some {
			one := c.said(kind)
			if strings.TrimSpace(one.Text) == "" || seen[one.ID] {
				continue
			}
			seen[one.ID], fresh = true, true
			out = append(out, one)
		}
		if !fresh || len(some) < perPage {
			break
		}
	}
	return out, nil
}
