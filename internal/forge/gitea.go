package forge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"tandem/internal/fault"
	"tandem/internal/forge/wire"
)

// gitea is Gitea and Forgejo: https://HOST/api/v1.
type gitea struct {
	*rest
	asked map[int64][]giteaReview // of this visit
}

// Find reads the pull request of a branch by its two ends.
func (g gitea) Find(ctx context.Context, branch, base string) (*there, error) {
	var p there
	err := g.call(ctx, "GET", "/pulls/"+url.PathEscape(base)+"/"+url.PathEscape(branch), nil, nil, &p)
	if errors.Is(err, errGone) || err == nil && p.State != "open" {
		return nil, nil
	}
	return &p, err
}

type giteaReview struct {
	ID       int64     `json:"id"`
	User     *user     `json:"user"`
	State    string    `json:"state"`
	Body     string    `json:"body"`
	Commit   string    `json:"commit_id"`
	At       time.Time `json:"submitted_at"`
	Comments int64     `json:"comments_count"`
}

func (g gitea) reviews(ctx context.Context, n int64) (out []giteaReview, err error) {
	if out, is := g.asked[n]; is {
		return out, nil
	}
	err = g.call(ctx, "GET", fmt.Sprintf("/pulls/%d/reviews", n), url.Values{"limit": {"50"}}, nil, (*many[giteaReview])(&out))
	if err == nil {
		g.asked[n] = out
	}
	return out, missing(err, "%s shows no reviews of %d", g.name, n)
}

// Comments are what was said below the pull request, in reviews, and about lines: the last belong to reviews there.
func (g gitea) Comments(ctx context.Context, n int64) ([]wire.Comment, error) {
	out, err := g.conversation(ctx, fmt.Sprintf("/issues/%d/comments", n), "c")
	if err != nil {
		return nil, err
	}
	all, err := g.reviews(ctx, n)
	if err != nil {
		return nil, err
	}
	threads := 0
	for _, v := range slices.Backward(all) {
		if v.State == "PENDING" { // nobody published it yet
			continue
		}
		if v.Body != "" {
			out = append(out, wire.Comment{ID: fmt.Sprintf("r%d", v.ID), By: v.User.name(), Text: fault.Clip(v.Body, maxSaid), At: v.At})
		}
		if v.Comments == 0 || threads == maxThreads {
			continue
		}
		threads++
		var lines many[comment]
		if err := g.call(ctx, "GET", fmt.Sprintf("/pulls/%d/reviews/%d/comments", n, v.ID), nil, nil, &lines); err != nil {
			return nil, missing(err, "%s shows no comments of that review", g.name)
		}
		for _, c := range lines {
			c.Line = c.Position // which is the line of the new file, in Gitea's language
			out = append(out, c.said("l"))
		}
	}
	return out, nil
}

// Reviews are people's verdicts.
func (g gitea) Reviews(ctx context.Context, n int64) (out []wire.Review, err error) {
	all, err := g.reviews(ctx, n)
	for _, v := range all {
		says := map[string]string{"APPROVED": approved, "REQUEST_CHANGES": wantsChanges, "COMMENT": commented}[v.State]
		if says != "" {
			out = append(out, wire.Review{By: v.User.name(), Says: says, Commit: hash(v.Commit), At: v.At})
		}
	}
	return out, err
}

// Checks are the statuses of a commit.
func (g gitea) Checks(ctx context.Context, commit string) ([]wire.Check, error) {
	return g.statuses(ctx, commit)
}

// Merge merges the pull request there, if it stands at the commit.
func (g gitea) Merge(ctx context.Context, n int64, commit, title string) error {
	return missing(g.call(ctx, "POST", fmt.Sprintf("/pulls/%d/merge", n), nil,
		map[string]any{"Do": "merge", "MergeTitleField": title, "head_commit_id": commit}, nil), "%s has no pull request %d", g.name, n)
}
