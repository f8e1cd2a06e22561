package approval

import "tandem/internal/op"

// The operations of asks and of standing answers.
const (
	AskList          = op.Def[ListIn, ListOut]("approval.list")
	AskGet           = op.Def[IDIn, *Ask]("approval.get")
	AskPage          = op.Def[PageIn, Page]("approval.page")
	AskContent       = op.Def[ContentIn, ContentOut]("approval.content")
	AskWait          = op.Def[WaitIn, WaitOut]("approval.wait")
	AskDecide        = op.Def[DecideIn, *Ask]("approval.decide")
	AskDecideSeveral = op.Def[SeveralIn, SeveralOut]("approval.decide_several")
	AskExpire        = op.Def[struct{}, ExpireOut]("approval.expire")
	AskAlways        = op.Def[AlwaysIn, AlwaysOut]("approval.always")
	RuleList         = op.Def[Nothing, RulesOut]("approval.rules")
	RuleForget       = op.Def[IDIn, OK]("approval.forget")
)
