package book

import (
	"tandem/internal/op"
	"tandem/internal/policy/vocabulary"
)

// The operations of rules, grants, groups and owners.
const (
	PolicyShow       = op.Def[ShowIn, ShowOut]("policy.show")
	PolicyExplain    = op.Def[Case, ExplainOut]("policy.explain")
	PolicyWhyNot     = op.Def[Case, WhyNotOut]("policy.why_not")
	AccessList       = op.Def[AccessIn, AccessOut]("access.list")
	PolicyTest       = op.Def[TestIn, TestOut]("policy.test")
	PolicyEdit       = op.Def[EditIn, EditOut]("policy.edit")
	PolicyLabel      = op.Def[LabelIn, LabelOut]("policy.label")
	PolicyContext    = op.Def[Nothing, vocabulary.StrictTenantContext]("policy.context")
	GrantTake        = op.Def[vocabulary.ScopedGrant, GrantOut]("grant.take")
	PolicyVocabulary = op.Def[Nothing, VocabularyOut]("policy.vocabulary")
	GrantList        = op.Def[GrantsIn, GrantsOut]("grant.list")
	GrantAdd         = op.Def[GrantIn, GrantOut]("grant.add")
	GrantRevoke      = op.Def[GrantIDIn, RevokeOut]("grant.revoke")
	GroupList        = op.Def[GroupsIn, GroupsOut]("group.list")
	GroupShow        = op.Def[GroupNameIn, GroupOut]("group.show")
	GroupAdd         = op.Def[GroupIn, GroupOut]("group.add")
	GroupRemove      = op.Def[GroupIn, GroupOut]("group.remove")
	OwnerAdd         = op.Def[OwnerIn, OwnersOut]("owner.add")
	OwnerRemove      = op.Def[OwnerIn, OwnersOut]("owner.remove")
	PersonAways      = op.Def[Nothing, AwaysOut]("person.aways")
	PersonAway       = op.Def[AwayIn, AwaysOut]("person.away")
	PersonBack       = op.Def[BackIn, AwaysOut]("person.back")
	OwnerHandOver    = op.Def[OwnerIn, OwnersOut]("owner.hand_over")
)
