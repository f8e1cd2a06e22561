package session

import (
	"tandem/internal/op"
	"tandem/internal/session/checkout"
)

// The operations of sessions, their folders, questions and budgets.
const (
	BudgetList = op.Def[Nothing, LimitsOut]("budget.list")
	BudgetSet  = op.Def[LimitIn, Limit]("budget.set")

	FolderGrant  = op.Def[FolderIn, Folder]("folder.grant")
	FolderList   = op.Def[Nothing, FoldersOut]("folder.list")
	FolderRevoke = op.Def[FolderRevokeIn, OK]("folder.revoke")

	QuestionAnswer = op.Def[AnswerIn, *Question]("question.answer")
	QuestionList   = op.Def[Nothing, QuestionsOut]("question.list")

	SessionCancel     = op.Def[TurnIn, CancelOut]("session.cancel")
	SessionCheckout   = op.Def[CheckoutIn, checkout.Checkout]("session.checkout")
	SessionConfine    = op.Def[IDIn, OK]("session.confine")
	SessionCreate     = op.Def[CreateIn, *Session]("session.create")
	SessionDelete     = op.Def[IDIn, OK]("session.delete")
	SessionDiff       = op.Def[IDIn, DiffOut]("session.diff")
	SessionDiscard    = op.Def[IDIn, DiscardOut]("session.discard")
	SessionEvents     = op.Def[EventsIn, EventsOut]("session.events")
	SessionFollow     = op.Def[FollowIn, struct{}]("session.follow")
	SessionFork       = op.Def[ForkIn, *Session]("session.fork")
	SessionGet        = op.Def[IDIn, *Session]("session.get")
	SessionKeep       = op.Def[IDIn, checkout.Kept]("session.keep")
	SessionList       = op.Def[ListIn, ListOut]("session.list")
	SessionMessages   = op.Def[IDIn, MessagesOut]("session.messages")
	SessionPrompt     = op.Def[PromptIn, *Turn]("session.prompt")
	SessionRevert     = op.Def[RevertIn, RevertOut]("session.revert")
	SessionTools      = op.Def[Nothing, ToolsOut]("session.tools")
	SessionTurn       = op.Def[OneTurnIn, *Turn]("session.turn")
	SessionTurns      = op.Def[TurnIn, TurnsOut]("session.turns")
	SessionUnconfine  = op.Def[IDIn, Unconfined]("session.unconfine")
	SessionUnconfined = op.Def[Nothing, UnconfinedOut]("session.unconfined")
	SessionUnrevert   = op.Def[IDIn, RevertOut]("session.unrevert")
	SessionUpdate     = op.Def[UpdateIn, *Session]("session.update")
)
