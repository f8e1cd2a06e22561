package host

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// RepoIn names a repository.
type RepoIn struct {
	Repo string `json:"repo" jsonschema:"the repository, by name or id"`
}

// Repository is a served repository.
type Repository struct {
	Name       string   `json:"name"`
	ID         string   `json:"id"` // it stays, whatever the repository is called and wherever it lies
	Path       string   `json:"path"`
	Head       string   `json:"head"` // operation
	Version    int64    `json:"version"`
	Bookmarks  []string `json:"bookmarks"`
	Workspaces int      `json:"workspaces"`
	Problem    string   `json:"problem,omitempty"` // why it is not served, though it was named
}

// ListOut are the repositories the caller may see.
type ListOut struct {
	Items []Repository `json:"items"`
}

// Workspace is where somebody works.
type Workspace struct {
	Name        string    `json:"name"`
	Owner       string    `json:"owner,omitempty"` // empty for the server's own folder
	Mine        bool      `json:"mine"`
	Commit      string    `json:"commit"`
	Change      string    `json:"change"`
	Description string    `json:"description"`
	Changed     time.Time `json:"changed"` // when its commit was last written
}

// WorkspacesOut are the workspaces of a repository, the busiest first.
type WorkspacesOut struct {
	Items []Workspace `json:"items"`
}

// Ops are the room's front door.
func (h *Host) Ops() []op.Op {
	at := func(in RepoIn) op.Resource { return h.at(in.Repo) }
	return []op.Op{
		RepoList.Read(op.Spec{Right: "repo.list", Method: "GET", Path: "/repo", Masked: true,
			Doc: "List the repositories this server serves."},
			func(struct{}) op.Resource { return repoAt("") }, h.list),
		RepoStatus.Read(op.Spec{Right: "repo.read", Method: "GET", Path: "/repo/{repo}",
			Doc: "Say where a repository is, how many operations and objects it has and how much room they take."},
			at, h.status),
		RepoCheck.Read(op.Spec{Right: "repo.read", Method: "POST", Path: "/repo/{repo}/check", MCP: "-",
			Doc: "Verify a repository: every operation, view and object is there and is what its id says."},
			at, h.check),
		RepoMend.Effect(op.Spec{Right: "workspace.write", Method: "POST", Path: "/repo/{repo}/mend", MCP: "-",
			Doc: "Put good copies, each checked against its id, in the place of what is damaged in a repository."},
			func(in MendIn) op.Resource { return workspaceAt(h.called(in.Repo), in.Workspace) }, h.mend, nil),
		RepoGC.Effect(op.Spec{Right: "repo.write", Method: "POST", Path: "/repo/{repo}/gc", MCP: "-",
			Doc: "Pack a repository, and remove what nothing names and nobody can hold."},
			func(in GCIn) op.Resource { return h.at(in.Repo, "gc") }, h.gc, nil),
		RepoPush.Effect(op.Spec{Right: "workspace.write", MCP: "-",
			Doc: "Make a replica's operations part of the repository. Their bytes come with POST /repo/{repo}/sync."},
			func(in PushIn) op.Resource { return workspaceAt(h.called(in.Repo), in.Workspace) }, h.push, h.recoverPush),
		RepoReturn.Effect(op.Spec{Right: "workspace.write", MCP: "-",
			Doc: "Take back what this server acknowledged with a receipt and then lost, as a replica still has it."},
			func(in ReturnIn) op.Resource { return workspaceAt(h.called(in.Repo), in.Workspace) }, h.takeBack, h.recoverReturn),
		RepoReturnUnsigned.Effect(op.Spec{Right: "repo.run", MCP: "-",
			Doc: "Take back what a replica has of others without this server's receipt for it; agents need an approval."},
			func(in ReturnIn) op.Resource { return h.at(in.Repo, "return", in.Workspace) }, h.takeBack, h.recoverReturn),
		RepoOlder.Read(op.Spec{Right: "repo.read", Method: "GET", Path: "/repo/{repo}/older", MCP: "-",
			Doc: "Say whether a repository is older than what it acknowledged, what came back, and what nobody has brought back."},
			at, h.older),
		RepoKeepOlder.State(op.Spec{Right: "repo.admin", Method: "POST", Path: "/repo/{repo}/keep_older",
			MCP: "-", Present: true, People: true,
			Doc: "Keep the state that a repository was put back to: receipts given before bring nothing back by themselves any more."},
			at, h.keepOlder),
		RepoPull.Stream(op.Spec{Right: "repo.read", Method: "POST", Path: "/repo/{repo}/sync",
			Doc: "Bring a replica up to date, and take in what it has made."},
			func(in PullIn) op.Resource { return h.at(in.Repo) }, nil),
		RepoWatch.Stream(op.Spec{Right: "repo.watch", Method: "GET", Path: "/repo/{repo}/watch",
			Doc: "Follow the head of a repository."},
			func(in WatchIn) op.Resource { return h.at(in.Repo) }, nil),
		WorkspaceClaim.State(op.Spec{Right: "workspace.create", Method: "POST", Path: "/repo/{repo}/workspaces", Status: 201,
			MCP: "-",
			Doc: "Reserve a workspace of one's own in a repository; a name that is taken gets a number."},
			func(in ClaimIn) op.Resource { return workspaceAt(h.called(in.Repo), in.Name) },
			func(ctx context.Context, tx *db.Tx, in ClaimIn) (ClaimOut, error) { return h.claim(ctx, tx, in) }),
		WorkspaceAdmit.State(op.Spec{Right: "repo.run", Method: "POST", Path: "/repo/{repo}/admit", MCP: "-",
			Doc: "Let others' changes to files that command agents or tools come into a workspace; agents need an approval."},
			h.admitAt, h.admit),
		RepoLeases.Read(op.Spec{Right: "repo.read", Method: "GET", Path: "/repo/{repo}/leases",
			Doc: "List the leased files and folders of a repository, and who holds them."},
			at, h.listLeases),
		RepoLease.State(op.Spec{Right: "workspace.write", Method: "POST", Path: "/repo/{repo}/leases",
			Doc: "Lease a file or folder of a repository to a workspace of one's own.\n" +
				"Whoever else pushes a change to it waits for a person's approval, and the holder hears of it."},
			func(in LeaseIn) op.Resource { return workspaceAt(h.called(in.Repo), in.Workspace) }, h.lease),
		RepoRelease.State(op.Spec{Right: "workspace.write", Method: "POST", Path: "/repo/{repo}/release",
			Doc: "Give a leased file or folder of a repository free."},
			func(in ReleaseIn) op.Resource { return workspaceAt(h.called(in.Repo), in.Workspace) }, h.release),
		op.Binding(RepoCross.State(op.Spec{Right: "workspace.write", MCP: "-",
			Doc: "Let changes to leased files become part of the repository; a sync that brings some asks for it, and a person decides."},
			func(in CrossIn) op.Resource { return workspaceAt(h.called(in.Repo), in.Workspace) }, h.cross),
			func(_ context.Context, in CrossIn) ([]op.Bound, error) { return in.shown(), nil }),
		op.Binding(RepoGitPush.Effect(op.Spec{Right: "repo.run", Method: "POST", Path: "/repo/{repo}/git_push",
			Doc: "Push bookmarks to a git remote with the server's own credentials; agents need an approval."},
			h.gitAt, h.gitPush, nil), h.bindPush),
		op.Binding(RepoGitFetch.Effect(op.Spec{Right: "repo.run", Method: "POST", Path: "/repo/{repo}/git_fetch",
			Doc: "Fetch from a git remote with the server's own credentials; agents need an approval."},
			h.gitAt, h.gitFetch, nil), h.bindFetch),
		RepoGraph.Read(op.Spec{Right: "repo.read", Method: "GET", Path: "/repo/{repo}/graph",
			Doc: "List the newest commits of all workspaces with the lines between them."},
			func(in GraphIn) op.Resource { return h.at(in.Repo) }, h.graph),
		RepoChange.Read(op.Spec{Right: "repo.read", Method: "GET", Path: "/repo/{repo}/commits/{commit}",
			Doc: "Show a commit and the files it touches."},
			func(in ChangeIn) op.Resource { return h.at(in.Repo) }, h.changeOf),
		WorkspaceList.Read(op.Spec{Right: "repo.read", Method: "GET", Path: "/repo/{repo}/workspaces",
			Doc: "Say who works where in a repository, and on what."},
			at, h.workspaces),
	}
}

func (h *Host) list(ctx context.Context, _ struct{}) (ListOut, error) {
	out := ListOut{Items: []Repository{}}
	for _, s := range h.served {
		if _, err := h.find(ctx, s.name); err != nil || !op.May(ctx, "repo.list", repoAt(s.name)) {
			continue
		}
		r, err := s.describe(ctx)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, r)
	}
	for _, o := range h.odd {
		if op.CallerFrom(ctx).Tenant == identity.LocalTenant && op.May(ctx, "repo.list", repoAt(o.name)) {
			out.Items = append(out.Items, Repository{Name: o.name, ID: o.id, Path: o.path, Bookmarks: []string{}, Problem: o.err.Error()})
		}
	}
	return out, nil
}

// view is the state of the repository at its head.
func (s *served) view(ctx context.Context) (*repo.View, repo.OperationID, int64, error) {
	head, version, _ := s.now()
	o, err := s.store.Operation(ctx, head)
	if err != nil {
		return nil, "", 0, err
	}
	v, err := s.store.View(ctx, o.View)
	return v, head, version, err
}

func (s *served) describe(ctx context.Context) (Repository, error) {
	v, head, version, err := s.view(ctx)
	if err != nil {
		return Repository{}, err
	}
	r := Repository{Name: s.name, ID: s.id, Path: s.root, Head: head.Hex(), Version: version, Bookmarks: []string{},
		Workspaces: len(v.Workspaces)}
	for name := range v.Bookmarks {
		r.Bookmarks = append(r.Bookmarks, name)
	}
	slices.Sort(r.Bookmarks)
	return r, nil
}

func (h *Host) workspaces(ctx context.Context, in RepoIn) (WorkspacesOut, error) {
	out := WorkspacesOut{Items: []Workspace{}}
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return out, err
	}
	v, _, _, err := s.view(ctx)
	if err != nil {
		return out, err
	}
	owners, err := h.owners(ctx, s)
	if err != nil {
		return out, err
	}
	for name, id := range v.Workspaces {
		c, err := s.store.Commit(ctx, id)
		if err != nil {
			return out, err
		}
		first, _, _ := strings.Cut(c.Description, "\n")
		o := owners[name]
		if o.forged {
			o = owner{name: "(changed in the database)"}
		}
		out.Items = append(out.Items, Workspace{Name: name, Owner: o.name, Mine: o.actor != "" && o.actor == op.CallerFrom(ctx).Actor,
			Commit: id.Hex(), Change: c.ChangeID.String(), Description: first, Changed: time.UnixMilli(c.Committer.When.Millis).UTC()})
	}
	slices.SortFunc(out.Items, func(a, b Workspace) int {
		if c := b.Changed.Compare(a.Changed); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}
