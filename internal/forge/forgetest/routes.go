package forgetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"

	"tandem/internal/forge/wire"
)

// routes are those that both kinds document, below the root of each, and the few that one has alone.
func (s *Server) routes(mux *http.ServeMux) {
	root := "/api/v1/repos/" + Repo
	if s.Kind == wire.GitHub {
		root = "/api/v3/repos/" + Repo
	}
	on := func(pattern string, fn func(http.ResponseWriter, *http.Request)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+root+path, func(w http.ResponseWriter, r *http.Request) {
			want := "token " + Token
			if s.Kind == wire.GitHub {
				want = "Bearer " + Token
			}
			if r.Header.Get("Authorization") != want {
				answer(w, http.StatusUnauthorized, object{"message": "invalid username, password or token"})
				return
			}
			s.note(r)
			s.mu.Lock()
			defer s.mu.Unlock()
			fn(w, r)
		})
	}
	on("GET ", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, object{"full_name": Repo, "default_branch": "main", "permissions": object{"push": true, "pull": true}})
	})
	on("GET /issues", func(w http.ResponseWriter, _ *http.Request) {
		out := []object{}
		for n := s.last; n > 0; n-- {
			if i := s.issues[n]; i != nil {
				out = append(out, s.issueOf(i, false))
			} else if p := s.pulls[n]; p != nil && s.Kind == wire.GitHub {
				out = append(out, s.issueOf(&p.issue, true))
			}
		}
		answer(w, 200, out)
	})
	on("GET /issues/{n}", func(w http.ResponseWriter, r *http.Request) {
		if i := s.issues[number(r)]; i != nil {
			answer(w, 200, s.issueOf(i, false))
			return
		}
		answer(w, 404, object{"message": "not found"})
	})
	on("GET /issues/{n}/comments", s.of(func(p *pull, r *http.Request) any {
		if s.Kind == wire.GitHub && r.FormValue("page") != "1" {
			return []object{}
		}
		return list(p.comments) // Gitea knows no pages here
	}))
	on("POST /pulls", s.open)
	on("GET /pulls/{n}", s.of(func(p *pull, _ *http.Request) any { return s.pullOf(p) }))
	on("PATCH /pulls/{n}", s.of(func(p *pull, r *http.Request) any {
		var in struct{ Title, Body string }
		_ = json.NewDecoder(r.Body).Decode(&in) //nolint:errcheck // an empty one changes nothing
		p.title, p.body = in.Title, in.Body
		return s.pullOf(p)
	}))
	on("GET /pulls/{n}/reviews", s.of(func(p *pull, _ *http.Request) any { return list(p.reviews) }))
	on("GET /commits/{sha}/status", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, object{"state": "pending", "statuses": list(s.statuses[r.PathValue("sha")])})
	})
	if s.Kind == wire.GitHub {
		on("GET /pulls", s.find)
		on("PUT /pulls/{n}/merge", s.merge)
		on("GET /commits/{sha}/check-runs", func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, object{"total_count": 1, "check_runs": []object{{"name": "actions", "status": "completed", "conclusion": "success"}}})
		})
		on("GET /pulls/{n}/comments", s.of(func(p *pull, _ *http.Request) any {
			out := []object{}
			for _, some := range p.lines {
				out = append(out, some...)
			}
			return out
		}))
		return
	}
	on("GET /pulls/{base}/{head}", s.between)
	on("POST /pulls/{n}/merge", s.merge)
	on("GET /pulls/{n}/reviews/{id}/comments", s.of(func(p *pull, r *http.Request) any {
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) //nolint:errcheck // there is none of number 0
		return list(p.lines[id])
	}))
}

func number(r *http.Request) int64 {
	n, _ := strconv.ParseInt(r.PathValue("n"), 10, 64) //nolint:errcheck // there is none of number 0
	return n
}

func list(all []object) []object {
	if all == nil {
		return []object{}
	}
	return all
}

// of answers about a pull request.
func (s *Server) of(fn func(*pull, *http.Request) any) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		p := s.pulls[number(r)]
		if p == nil {
			answer(w, 404, object{"message": "not found"})
			return
		}
		answer(w, 200, fn(p, r))
	}
}

func (s *Server) issueOf(i *issue, pulls bool) object {
	o := object{"number": i.number, "title": i.title, "body": i.body, "state": "open", "user": login(i.by),
		"labels":   []object{{"name": "bug"}},
		"html_url": s.URL + "/" + Repo + "/issues/" + strconv.FormatInt(i.number, 10), "pull_request": nil}
	if pulls {
		o["pull_request"] = object{}
	}
	return o
}

func (s *Server) pullOf(p *pull) object {
	o := object{"number": p.number, "title": p.title, "body": p.body, "state": p.state, "merged": p.merged != "", "merged_at": nil,
		"html_url": s.URL + "/" + Repo + "/pulls/" + strconv.FormatInt(p.number, 10), "head": object{"ref": p.head, "sha": s.tip(p.head)},
		"base":             object{"ref": p.base},
		"merge_commit_sha": nil, "merged_by": nil}
	if p.merged != "" {
		o["merge_commit_sha"], o["merged_by"], o["merged_at"] = p.merged, login(p.mergedBy), s.tick()
	}
	return o
}

func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	var in struct{ Head, Base, Title, Body string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || s.tip(in.Head) == "" || s.tip(in.Base) == "" || in.Title == "" {
		answer(w, 422, object{"message": "Validation Failed"})
		return
	}
	for _, p := range s.pulls {
		if p.head == in.Head && p.state == "open" {
			answer(w, 409, object{"message": "pull request already exists for these targets"})
			return
		}
	}
	s.last++
	p := &pull{issue: issue{number: s.last, title: in.Title, body: in.Body, by: "tandem"}, head: in.Head, base: in.Base, state: "open"}
	s.pulls[s.last] = p
	answer(w, 201, s.pullOf(p))
}

func (s *Server) find(w http.ResponseWriter, r *http.Request) {
	out := []object{}
	for _, p := range s.pulls {
		if p.state == "open" && r.FormValue("head") == "acme:"+p.head && r.FormValue("base") == p.base {
			out = append(out, s.pullOf(p))
		}
	}
	answer(w, 200, out)
}

func (s *Server) between(w http.ResponseWriter, r *http.Request) {
	base, _ := url.PathUnescape(r.PathValue("base")) //nolint:errcheck // the mux has read it
	head, _ := url.PathUnescape(r.PathValue("head")) //nolint:errcheck // as above
	for _, p := range s.pulls {
		if p.base == base && p.head == head {
			answer(w, 200, s.pullOf(p))
			return
		}
	}
	answer(w, 404, object{"message": "not found"})
}

func (s *Server) merge(w http.ResponseWriter, r *http.Request) {
	p := s.pulls[number(r)]
	var in struct {
		SHA  string `json:"sha"`
		Head string `json:"head_commit_id"`
	}
	if p == nil || json.NewDecoder(r.Body).Decode(&in) != nil || in.SHA+in.Head != s.tip(p.head) || p.state != "open" {
		answer(w, 409, object{"message": "head out of date"})
		return
	}
	p.merged, p.state, p.mergedBy = s.tip(p.head), "closed", "tandem"
	if err := exec.Command("git", "-C", s.Git, "update-ref", "refs/heads/"+p.base, p.merged).Run(); err != nil {
		answer(w, 500, object{"message": "cannot move the branch"})
		return
	}
	answer(w, 200, object{"merged": true})
}
