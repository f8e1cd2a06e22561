package compat

import "net/http"

// lacking are the routes of coder runs, missions and teams that have no part here, and what to do instead.
var lacking = []struct {
	what, next string
	routes     []string
}{
	{"a merge is bound to the commit that was looked at, which this call does not name",
		"look with GET /jobs/{id}/diff, then a person merges: tandem job merge JOB --commit COMMIT",
		[]string{"POST /coder/runs/{id}/approve", "POST /coder/runs/{id}/merge-submit"}},
	{"a job that follows names the one that it stands on",
		"tell its agent more with POST /jobs/{id}/send, or start one on top of it: POST /jobs with its id as on",
		[]string{"POST /coder/runs/{id}/follow-on-run"}},
	{"a pull request is bound to the commit that was looked at, which this call does not name",
		"add the forge and post the job: tandem forge add NAME OWNER/REPOSITORY, then tandem job post JOB --commit COMMIT",
		[]string{"POST /coder/runs/{id}/pr-draft", "POST /coder/runs/{id}/pr-submit"}},
	{"reports are made by tandem from what it saw",
		"read them with GET /coder/runs/{id}/artifacts",
		[]string{"POST /coder/runs/{id}/triage-inspection-report", "POST /coder/runs/{id}/triage-reproduction-report",
			"POST /coder/runs/{id}/triage-summary", "POST /coder/runs/{id}/issue-fix-validation-report",
			"POST /coder/runs/{id}/issue-fix-summary", "POST /coder/runs/{id}/merge-readiness-report"}},
	{"reviews are made by an agent that looks",
		"have one look with POST /jobs/{id}/review",
		[]string{"POST /coder/runs/{id}/pr-review-evidence", "POST /coder/runs/{id}/pr-review-summary",
			"POST /coder/runs/{id}/merge-recommendation-summary"}},
	{"jobs keep no memory of their own",
		"search with POST /memory/search, propose with POST /memory/put",
		[]string{"GET /coder/runs/{id}/memory-hits", "GET /coder/runs/{id}/memory-candidates", "POST /coder/runs/{id}/memory-candidates",
			"POST /coder/runs/{id}/memory-candidates/{candidate}/promote"}},
	{"what a context run's workers changed in files is in their sessions",
		"see it with GET /session/{id}/diff, and take it back with POST /session/{id}/revert",
		[]string{"GET /context/runs/{id}/checkpoints/mutations", "GET /context/runs/{id}/checkpoints/mutations/rollback-history",
			"GET /context/runs/{id}/checkpoints/mutations/rollback-preview",
			"POST /context/runs/{id}/checkpoints/mutations/rollback-execute"}},
	{"a context run has no tools and no authority of its own: who did what is in the journal",
		"read it with GET /audit/log, or prove it: tandem audit prove",
		[]string{"GET /context/runs/{id}/ledger", "GET /context/runs/{id}/governance-evidence"}},
	{"there are no projects",
		"send POST /coder/runs with the folder as repo_binding.workspace_root and the words of the issue as objective",
		[]string{"GET /coder/projects/{id}/bindings", "PUT /coder/projects/{id}/bindings",
			"GET /coder/projects/{id}/github-project/inbox", "POST /coder/projects/{id}/github-project/intake"}},
	{"agents have no templates",
		"name who works when a team starts: tandem team start GOAL --workers claude,codex",
		[]string{"GET /agent-team/templates", "POST /agent-team/templates", "PATCH /agent-team/templates/{id}",
			"DELETE /agent-team/templates/{id}"}},
	{"there are no standups",
		"write an automation with a clock: tandem automation check FILE, then tandem automation add FILE",
		[]string{"POST /agent-standup/compose"}},
	{"a team opens its workers itself, by its plan",
		"start a team with POST /mission, or a job with POST /coder/runs",
		[]string{"POST /agent-team/spawn"}},
	{"a plan is approved by a person who is present, and is bound to the plan that the person saw",
		"look: tandem team show TEAM, then tandem team approve TEAM --plan N",
		[]string{"POST /agent-team/approvals/spawn/{id}/approve"}},
	{"a plan is not denied",
		"give the team another one: tandem team plan TEAM --file plan.json, or end it: tandem team stop TEAM",
		[]string{"POST /agent-team/approvals/spawn/{id}/deny"}},
}

// lackingMounts are the routes that say so.
func lackingMounts(s *Server, out map[string]http.Handler) {
	for _, l := range lacking {
		h := s.handle(func(q *request) (any, error) { return q.lacks(l.what, l.next) })
		for _, route := range l.routes {
			out[route] = h
		}
	}
}

// lacks says that there is no such thing here, and what to do instead.
func (q *request) lacks(what, next string) (any, error) {
	write(q.w, http.StatusNotImplemented, obj{"error": what, "code": "unbuilt", "retryable": false, "next": next})
	return nil, nil
}
