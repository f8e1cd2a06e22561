package space

import "tandem/internal/op"

// The operations of a host: what it does for the members of a space.
const (
	SpaceHandOver    = op.Def[HandOverIn, OK]("space.hand_over")
	SpaceHosted      = op.Def[struct{}, HostedOut]("space.hosted")
	SpaceInviteClose = op.Def[UninviteIn, OK]("space.invite_close")
	SpaceInviteOpen  = op.Def[InviteIn, InviteOut]("space.invite_open")
	SpaceKnock       = op.Def[KnockIn, KnockOut]("space.knock")
	SpaceKnockNext   = op.Def[NextIn, Knock]("space.knock_next")
	SpaceKnockReply  = op.Def[ReplyIn, OK]("space.knock_reply")
	SpacePieceGet    = op.Def[PieceIn, PieceOut]("space.piece_get")
	SpacePiecePut    = op.Def[PieceIn, PieceOut]("space.piece_put")
	SpacePost        = op.Def[PostIn, Accepted]("space.post")
	SpacePull        = op.Def[PullIn, PullOut]("space.pull")
	SpaceRemote      = op.Def[RemoteIn, RemoteOut]("space.remote")
	SpaceStart       = op.Def[StartIn, StartOut]("space.start")
	SpaceSweep       = op.Def[struct{}, SweepOut]("space.sweep")
	SpaceStepDown    = op.Def[StepDownIn, OK]("space.step_down")
)
