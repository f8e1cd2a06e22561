package book

import "tandem/internal/op"

// The operations of rules and grants.
const (
	PolicyShow    = op.Def[ShowIn, ShowOut]("policy.show")
	PolicyExplain = op.Def[Case, ExplainOut]("policy.explain")
	PolicyTest    = op.Def[TestIn, TestOut]("policy.test")
	PolicyEdit    = op.Def[EditIn, EditOut]("policy.edit")
	PolicyLabel   = op.Def[LabelIn, LabelOut]("policy.label")
	GrantList     = op.Def[GrantsIn, GrantsOut]("grant.list")
	GrantAdd      = op.Def[GrantIn, GrantOut]("grant.add")
	GrantRevoke   = op.Def[GrantIDIn, RevokeOut]("grant.revoke")
)
