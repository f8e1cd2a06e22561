package host

import "tandem/internal/op"

// The operations of repositories and their workspaces.
const (
	RepoChange         = op.Def[ChangeIn, ChangeOut]("repo.change")
	RepoCheck          = op.Def[RepoIn, CheckOut]("repo.check")
	RepoCross          = op.Def[CrossIn, CrossOut]("repo.cross")
	RepoGC             = op.Def[GCIn, GCOut]("repo.gc")
	RepoGitFetch       = op.Def[GitIn, GitOut]("repo.git_fetch")
	RepoGitPush        = op.Def[GitIn, GitOut]("repo.git_push")
	RepoGraph          = op.Def[GraphIn, GraphOut]("repo.graph")
	RepoKeepOlder      = op.Def[RepoIn, OlderOut]("repo.keep_older")
	RepoLease          = op.Def[LeaseIn, Lease]("repo.lease")
	RepoLeases         = op.Def[RepoIn, LeasesOut]("repo.leases")
	RepoList           = op.Def[struct{}, ListOut]("repo.list")
	RepoMend           = op.Def[MendIn, MendOut]("repo.mend")
	RepoOlder          = op.Def[RepoIn, OlderOut]("repo.older")
	RepoPull           = op.Def[PullIn, struct{}]("repo.pull")
	RepoPush           = op.Def[PushIn, PushOut]("repo.push")
	RepoRelease        = op.Def[ReleaseIn, Lease]("repo.release")
	RepoReturn         = op.Def[ReturnIn, ReturnOut]("repo.return")
	RepoReturnUnsigned = op.Def[ReturnIn, ReturnOut]("repo.return_unsigned")
	RepoStatus         = op.Def[RepoIn, StatusOut]("repo.status")
	RepoWatch          = op.Def[WatchIn, struct{}]("repo.watch")

	WorkspaceAdmit = op.Def[AdmitIn, AdmitOut]("workspace.admit")
	WorkspaceClaim = op.Def[ClaimIn, ClaimOut]("workspace.claim")
	WorkspaceList  = op.Def[RepoIn, WorkspacesOut]("workspace.list")
)
