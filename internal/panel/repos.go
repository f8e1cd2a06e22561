package panel

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"tandem/internal/panel/ui"
	"tandem/internal/repo/host"
)

func reposNav() page {
	return page{id: "repos", label: "Repositories", href: "/panel/repos", icon: "repos", key: "g d", needs: string(host.RepoList),
		routes: func(p *Panel) {
			p.get("/panel/repos", func(v *visit) error { return v.repos() })
		}}
}

// CommitView is one commit with what it touches.
type CommitView struct{ host.ChangeOut }

// pathWords are the states of a file.
var pathWords = map[string]struct {
	tone ui.Tone
	word string
}{"A": {ui.Good, "added"}, "M": {ui.Info, "modified"}, "D": {ui.Quiet, "removed"}, "C": {ui.Bad, "conflict"}}

func pathTone(p host.ChangedPath) ui.Tone { return pathWords[p.Status].tone }
func pathWord(p host.ChangedPath) string  { return pathWords[p.Status].word }

func conflictWords(n int) string {
	if n == 1 {
		return "One file of this commit is in conflict."
	}
	return fmt.Sprintf("%d files of this commit are in conflict.", n)
}

// title is a commit's first line, or its change where nobody described it.
func (c CommitView) title() string {
	if c.Description != "" {
		return c.Description
	}
	return "Change " + ui.Short(c.Change, 13)
}

// rest is what a commit's description says below its first line.
func (c CommitView) rest() string {
	_, rest, _ := strings.Cut(c.Text, "\n")
	return strings.TrimSpace(rest)
}

// conflicts counts the files in conflict.
func (c CommitView) conflicts() int {
	n := 0
	for _, p := range c.Paths {
		if p.Status == "C" {
			n++
		}
	}
	return n
}

// ReposView is the repositories, one of them with its graph, and perhaps a
// commit of it.
type ReposView struct {
	Now      time.Time
	Rows     []host.Repository
	Name     string
	Work     []host.Workspace
	Graph    []host.Node
	More     bool
	Selected *CommitView
	Beside   bool // diffs side by side
	Problem  string
}

// tabs lead to the other repositories, when there are any.
func (v ReposView) tabs() []ui.Tab {
	var out []ui.Tab
	for _, r := range v.Rows {
		out = append(out, ui.Tab{Label: r.Name, Href: repoHref(r.Name, "", false), Active: r.Name == v.Name})
	}
	return out
}

func repoHref(name, commit string, beside bool) string {
	q := url.Values{"repo": {name}}
	if commit != "" {
		q.Set("commit", commit)
	}
	if beside {
		q.Set("diff", "beside")
	}
	return "/panel/repos?" + q.Encode()
}

func (c CommitView) pairs() []ui.Pair {
	return []ui.Pair{{Key: "Change", Value: c.Change, Mono: true}, {Key: "Commit", Value: c.Commit, Mono: true},
		{Key: "Author", Value: c.Author}, {Key: "Written", Value: ui.Stamp(c.When)}}
}

func (v *visit) repos() error {
	out := ReposView{Now: v.now(), Name: v.query("repo"), Beside: v.query("diff") == "beside"}
	list, err := ask(v, host.RepoList, struct{}{})
	if err != nil {
		return err
	}
	out.Rows = list.Items
	if out.Name == "" && len(out.Rows) > 0 {
		out.Name = out.Rows[0].Name
	}
	if out.Name != "" {
		work, err := ask(v, host.WorkspaceList, host.RepoIn{Repo: out.Name})
		if err != nil {
			return err
		}
		graph, err := ask(v, host.RepoGraph, host.GraphIn{Repo: out.Name})
		if err != nil {
			return err
		}
		out.Work, out.Graph, out.More = work.Items, graph.Items, graph.More
	}
	if id := v.query("commit"); id != "" {
		c, err := ask(v, host.RepoChange, host.ChangeIn{Repo: out.Name, Commit: id})
		if err != nil {
			out.Problem = words(err)
		} else {
			out.Selected = &CommitView{c}
		}
	}
	s := v.shell("repos", "Repositories")
	s.Here = "/panel/repos"
	if out.Name != "" {
		s.Here = repoHref(out.Name, v.query("commit"), out.Beside)
	}
	if out.Selected != nil {
		s.Title, s.Back = out.Selected.title(), &ui.Crumb{Label: out.Name, Href: repoHref(out.Name, "", false)}
	}
	return v.show(reposPage(s, out))
}
