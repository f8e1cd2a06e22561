package compat

import (
	"cmp"
	"path/filepath"
	"strconv"

	"tandem/internal/fault"
	jobs "tandem/internal/job/wire"
	"tandem/internal/op"
)

// A coder run of the clients is a job of ours.
var coderRoutes = map[string]handler{
	"GET /coder/runs":                    listCoderRuns,
	"POST /coder/runs":                   createCoderRun,
	"GET /coder/runs/{id}":               coderRun,
	"GET /coder/runs/{id}/artifacts":     coderArtifacts,
	"POST /coder/runs/{id}/cancel":       cancelCoderRun,
	"POST /coder/runs/{id}/execute-next": coderRun, // a job works by itself, and one that somebody stopped stays stopped
	"POST /coder/runs/{id}/execute-all":  coderRun,
	"POST /worktree/cleanup":             cleanWorktrees,
}

// issueFix is the only one of the clients' modes that is a job.
const issueFix = "issue_fix"

// jobWords are the clients' words for where a run stands, and for what it does there.
var jobWords = map[jobs.State]struct{ status, phase string }{
	jobs.Planned: {"queued", "bootstrapping"}, jobs.Working: {"running", "analysis"}, jobs.SentBack: {"running", "analysis"},
	jobs.Checking: {"running", "validation"}, jobs.Review: {"awaiting_approval", "approval"}, jobs.Queued: {"running", "approval"},
	jobs.Merged: {"completed", "completed"}, jobs.Stopped: {"failed", "failed"},
}

func coderRecord(j *jobs.Job) obj {
	w := jobWords[j.State]
	if j.State == jobs.Stopped && j.StoppedBy != "" {
		w.status, w.phase = "cancelled", "cancelled"
	}
	binding := obj{"workspace_root": cmp.Or(j.Repo, j.Folder), "repo_slug": slug(j)}
	if j.Onto != "" {
		binding["default_branch"] = j.Onto
	}
	out := obj{"coder_run_id": j.ID, "coderRunId": j.ID, "workflow_mode": issueFix, "linked_context_run_id": j.ID, "repo_binding": binding,
		"status": w.status, "phase": w.phase, "objective": j.Task, "detail": j.Reason, "created_at_ms": ms(j.MadeAt),
		"updated_at_ms": ms(j.MovedAt), "validation": string(j.Verdict)}
	if len(j.Needs) > 0 {
		out["needs"] = j.Needs
	}
	return out
}

// slug is the name of a job's repository.
func slug(j *jobs.Job) string { return cmp.Or(j.Named, filepath.Base(cmp.Or(j.Repo, j.Folder))) }

func coderAnswer(j *jobs.Job, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	record := coderRecord(j)
	return obj{"ok": true, "coder_run": record, "run": obj{"run_id": j.ID, "status": record["status"], "objective": j.Task,
		"workspace": j.Path, "session_id": j.Session, "base": j.Base, "commit": j.Commit, "turns": j.Turns}}, nil
}

// jobs are the newest, as far as the caller may see them.
func (q *request) jobs(limit int) ([]*jobs.Job, error) {
	out, err := op.Do(q.Context(), q.s.Gate, jobs.List, jobs.ListIn{Limit: limit})
	return out.Jobs, err
}

func listCoderRuns(q *request) (any, error) {
	limit, named, mode := min(500, max(1, number(q.FormValue("limit"), 50))), q.FormValue("repo_slug"), q.FormValue("workflow_mode")
	read := limit
	if named != "" { // those of other repositories take nobody's place among the newest
		read = 500
	}
	all, err := q.jobs(read)
	if err != nil {
		return nil, err
	}
	list := []obj{}
	for _, j := range all {
		if len(list) < limit && (named == "" || named == slug(j)) && (mode == "" || mode == issueFix) {
			list = append(list, coderRecord(j))
		}
	}
	return obj{"runs": list, "count": len(list)}, nil
}

func createCoderRun(q *request) (any, error) {
	var in jobs.StartIn
	mode, err := q.text("workflow_mode", "workflowMode")
	if err != nil {
		return nil, err
	}
	repo, err := q.within("repo_binding", "repoBinding")
	if err != nil {
		return nil, err
	}
	var provider, model string
	var issue obj
	for _, e := range []error{q.get(&in.Task, "objective"), q.get(&issue, "github_ref", "githubRef"), q.get(&provider, "model_provider"),
		q.get(&model, "model_id"), repo.get(&in.Folder, "workspace_root", "workspaceRoot"), repo.get(&in.Repo, "repo_slug", "repoSlug"),
		repo.get(&in.Onto, "default_branch", "defaultBranch")} {
		if e != nil {
			return nil, e
		}
	}
	switch mode {
	case "", issueFix:
	case "issue_triage", "pr_review", "merge_recommendation":
		return q.lacks("a job makes a change", "send workflow_mode issue_fix; another agent looks at a job with POST /jobs/{id}/review")
	default:
		return nil, fault.New(fault.Invalid, "job.start", "%.40q is no workflow_mode", mode).WithNext("send issue_fix")
	}
	switch {
	case in.Task == "" && issue != nil:
		return q.lacks("issues of a forge are not read here", "send the words of the issue as objective")
	case (provider == "") != (model == ""):
		return nil, fault.New(fault.Invalid, "job.start", "a model is named by model_provider and model_id together").
			WithNext("send both, or none for the default model")
	case model != "":
		in.Agent = provider + "/" + model
	}
	if in.Folder != "" || in.Repo == "" { // a folder says more than the name of what is in it
		in.Repo = ""
		if in.Folder, err = q.checkout(in.Folder); err != nil {
			return nil, err
		}
	}
	return coderAnswer(op.Do(q.Context(), q.s.Gate, jobs.Start, in))
}

// checkout is the folder that is worked on: where none is named, the one where the server works.
func (q *request) checkout(named string) (string, error) {
	dir, err := directory(q, cmp.Or(named, "."))
	if err == nil && dir == "" {
		err = fault.New(fault.Invalid, "http", "no folder is named, and none is granted").
			WithNext("send workspace_root; a person grants a folder with: tandem grant folder FOLDER")
	}
	return dir, err
}

// within is a part of the body, which may be absent.
func (q *request) within(names ...string) (*request, error) {
	part := *q
	part.body = nil
	return &part, q.get(&part.body, names...)
}

func (q *request) job() (*jobs.Job, error) {
	return op.Do(q.Context(), q.s.Gate, jobs.Get, jobs.IDIn{ID: q.PathValue("id")})
}

func coderRun(q *request) (any, error) { return coderAnswer(q.job()) }

func cancelCoderRun(q *request) (any, error) {
	return coderAnswer(op.Do(q.Context(), q.s.Gate, jobs.Stop, jobs.StopIn{ID: q.PathValue("id")}))
}

// coderArtifacts are what a job has to show: its change, the runs of its check, and the job itself.
func coderArtifacts(q *request) (any, error) {
	j, err := q.job()
	if err != nil {
		return nil, err
	}
	at := "/jobs/" + j.ID
	list := []obj{}
	if j.Commit != "" {
		list = append(list, obj{"id": j.ID + ".diff", "ts_ms": ms(j.MovedAt), "path": at + "/diff", "artifact_type": "coder_patch_summary",
			"base": j.Base, "commit": j.Commit})
	}
	for _, e := range j.Evidence {
		list = append(list, obj{"id": j.ID + ".check." + strconv.FormatInt(e.N, 10), "ts_ms": ms(e.At), "path": at,
			"artifact_type": "coder_validation_report", "commit": e.Commit, "command": e.Command, "copies": e.Copies,
			"verdict": string(e.Verdict), "exit": e.Exit, "seconds": e.Seconds, "output": e.Output})
	}
	if j.State.Waits() {
		list = append(list, obj{"id": j.ID + ".handoff", "ts_ms": ms(j.MovedAt), "path": at, "artifact_type": "coder_issue_fix_summary",
			"state": string(j.State), "detail": j.Reason, "commit": j.Commit, "verdict": string(j.Verdict), "altered": j.Altered,
			"turns": j.Turns})
	}
	return obj{"artifacts": list, "count": len(list)}, nil
}

// cleanWorktrees tells of the checkouts of jobs. Tandem takes one away when its job is merged or discarded, so none is left to clean.
func cleanWorktrees(q *request) (any, error) {
	var dry bool
	root, err := q.text("repo_root", "repoRoot")
	if err != nil {
		return nil, err
	}
	named, err := q.text("repository_id", "repositoryId")
	if err != nil {
		return nil, err
	}
	if err := q.get(&dry, "dry_run", "dryRun"); err != nil {
		return nil, err
	}
	all, err := q.jobs(500)
	if err != nil {
		return nil, err
	}
	paths, none := []string{}, []obj{}
	for _, j := range all {
		if j.Path != "" && (root == "" || filepath.Clean(root) == j.Repo) && (named == "" || named == j.Named) {
			paths = append(paths, j.Path)
		}
	}
	return obj{"ok": true, "dry_run": dry, "repo_root": root, "tracked_paths": paths, "active_paths": paths, "stale_paths": none,
		"cleaned_worktrees": none, "orphan_dirs": none, "orphan_dirs_removed": none, "failures": none}, nil
}
