package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/forge/wire"
)

// What a review says.
const (
	approved     = "approved"
	wantsChanges = "wants changes"
	commented    = "comment"
)

// What a check says.
const (
	green   = "green"
	red     = "red"
	pending = "pending"
)

var hashForm = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// hash is a commit's name, if it is one.
func hash(text string) string {
	if !hashForm.MatchString(text) {
		return ""
	}
	return text
}

// github is GitHub: https://api.github.com, or https://HOST/api/v3 where it is a company's own.
type github struct {
	*rest
	asked map[int64][]githubReview // of this visit
}

// Find lists the open pull requests of a branch.
func (g github) Find(ctx context.Context, branch, base string) (*there, error) {
	owner, _, _ := strings.Cut(g.repo, "/")
	var all many[there]
	err := g.call(ctx, "GET", "/pulls", url.Values{"state": {"open"}, "head": {owner + ":" + branch}, "base": {base}}, nil, &all)
	if err != nil {
		return nil, missing(err, "%s shows no pull requests", g.name)
	}
	for _, p := range all {
		if p.Head.Ref == branch {
			return &p, nil
		}
	}
	return nil, nil
}

type githubReview struct {
	ID     int64     `json:"id"`
	User   *user     `json:"user"`
	State  string    `json:"state"`
	Body   string    `json:"body"`
	Commit string    `json:"commit_id"`
	At     time.Time `json:"submitted_at"`
}

func (g github) reviews(ctx context.Context, n int64) (out []githubReview, err error) {
	if out, is := g.asked[n]; is {
		return out, nil
	}
	err = g.call(ctx, "GET", fmt.Sprintf("/pulls/%d/reviews", n), url.Values{"per_page": {"100"}}, nil, (*many[githubReview])(&out))
	if err == nil {
		g.asked[n] = out
	}
	return out, missing(err, "%s shows no reviews of %d", g.name, n)
}

// Comments are what was said below the pull request, in reviews, and about lines.
func (g github) Comments(ctx context.Context, n int64) ([]wire.Comment, error) {
	out, err := g.conversation(ctx, fmt.Sprintf("/issues/%d/comments", n), "c")
	if err != nil {
		return nil, err
	}
	lines, err := g.conversation(ctx, fmt.Sprintf("/pulls/%d/comments", n), "l")
	if err != nil {
		return nil, err
	}
	all, err := g.reviews(ctx, n)
	for _, v := range all {
		if v.State != "PENDING" && v.Body != "" {
			out = append(out, wire.Comment{ID: fmt.Sprintf("r%d", v.ID), By: v.User.name(), Text: fault.Clip(v.Body, maxSaid), At: v.At})
		}
	}
	return append(out, lines...), err
}

// Reviews are people's verdicts.
func (g github) Reviews(ctx context.Context, n int64) (out []wire.Review, err error) {
	all, err := g.reviews(ctx, n)
	for _, v := range all {
		says := map[string]string{"APPROVED": approved, "CHANGES_REQUESTED": wantsChanges, "COMMENTED": commented}[v.State]
		if says != "" {
			out = append(out, wire.Review{By: v.User.name(), Says: says, Commit: hash(v.Commit), At: v.At})
		}
	}
	return out, err
}

// statuses are what services said of a commit by the older way, which both kinds have.
func (r *rest) statuses(ctx context.Context, commit string) (out []wire.Check, err error) {
	var said struct {
		Statuses many[struct {
			Context string `json:"context"`
			State   string `json:"state"`  // GitHub's word
			Status  string `json:"status"` // Gitea's
			Target  string `json:"target_url"`
		}] `json:"statuses"`
	}
	err = r.call(ctx, "GET", "/commits/"+commit+"/status", url.Values{"per_page": {"100"}, "limit": {"50"}}, nil, &said)
	if errors.Is(err, errGone) { // nothing was said
		return nil, nil
	}
	for _, s := range said.Statuses {
		state := map[string]string{"success": green, "failure": red, "error": red}[cmp.Or(s.State, s.Status)]
		if state == "" {
			state = pending
		}
		out = append(out, wire.Check{Name: fault.Clip(s.Context, 100), State: state, Commit: commit, URL: page(s.Target)})
	}
	return out, err
}

// Checks are the statuses of a commit, and the runs of checks, which Actions makes.
func (g github) Checks(ctx context.Context, commit string) ([]wire.Check, error) {
	out, err := g.statuses(ctx, commit)
	if err != nil {
		return nil, err
	}
	var ran struct {
		Runs many[struct {
			Name       string `json:"name"`
			Status     string `json:"status"`
			Conclusion string `json:"conclusion"`
			URL        string `json:"html_url"`
		}] `json:"check_runs"`
	}
	err = g.call(ctx, "GET", "/commits/"+commit+"/check-runs", url.Values{"per_page": {"100"}}, nil, &ran)
	if errors.Is(err, errGone) {
		return out, nil
	}
	for _, c := range ran.Runs {
		state := pending
		if c.Status == "completed" {
			if state = red; c.Conclusion == "success" || c.Conclusion == "neutral" || c.Conclusion == "skipped" {
				state = green
			}
		}
		out = append(out, wire.Check{Name: fault.Clip(c.Name, 100), State: state, Commit: commit, URL: page(c.URL)})
	}
	return out, err
}

// Merge merges the pull request there, if it stands at the commit.
func (g github) Merge(ctx context.Context, n int64, commit, title string) error {
	return missing(g.call(ctx, "PUT", fmt.Sprintf("/pulls/%d/merge", n), nil,
		map[string]any{"sha": commit, "merge_method": "merge", "commit_title": title}, nil), "%s has no pull request %d", g.name, n)
}
