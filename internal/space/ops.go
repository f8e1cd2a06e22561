package space

import "tandem/internal/op"

// At is a space as policy sees it.
func At(space string) op.Resource { return op.Resource{Kind: "space", Path: "/" + space} }

func envelopeAt(in PostIn) op.Resource {
	if in.Envelope == nil {
		return At("")
	}
	return At(in.Envelope.Space)
}

// Ops is this room's front door: what members' daemons say to the host. What
// people and agents call is in package peer.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		SpaceStart.State(op.Spec{Right: "space.create", Method: "POST", Path: "/space", MCP: "-", Status: 201,
			Doc: "Start hosting a space with its first member."},
			func(in StartIn) op.Resource { return At(in.Space) }, r.start),
		SpacePost.State(op.Spec{Right: "space.post", Method: "POST", Path: "/space/post", MCP: "-", Secret: []string{"envelope"},
			Doc: "Append a member's envelope to its space's log.\nThe host checks signature, epoch, sequence and rate, and cannot open it."},
			envelopeAt, r.post),
		SpacePull.Read(op.Spec{Waits: true, Right: "space.post", Method: "POST", Path: "/space/pull", MCP: "-",
			Doc: "Read a space's log from a number on, and wait for more when there is none."},
			func(in PullIn) op.Resource { return At(in.Space) }, r.pull),
		SpaceInviteOpen.State(op.Spec{Right: "space.post", Method: "POST", Path: "/space/invite/open", MCP: "-",
			Doc: "Register an invite by the part of its code that is not secret."},
			func(in InviteIn) op.Resource { return At(in.Space) }, r.invite),
		SpaceInviteClose.State(op.Spec{Right: "space.post", Method: "POST", Path: "/space/invite/close", MCP: "-",
			Doc: "End an invite that was used, burned or revoked."},
			func(in UninviteIn) op.Resource { return At(in.Space) }, r.uninvite),
		SpacePiecePut.State(op.Spec{Right: "space.post", Method: "POST", Path: "/space/piece", MCP: "-", Secret: []string{"box"}, Sealed: true,
			Doc: "Store a sealed piece of an attachment, by the hash of its bytes.\nThe host cannot open it, keeps it for 30 days, " +
				"and keeps so much of each member and space."},
			func(in PieceIn) op.Resource { return At(in.Space) }, r.putPiece),
		SpacePieceGet.Read(op.Spec{Right: "space.post", Method: "POST", Path: "/space/piece/get", MCP: "-", Sealed: true,
			Doc: "Read a sealed piece of an attachment by its hash."},
			func(in PieceIn) op.Resource { return At(in.Space) }, r.getPiece),
		SpaceSweep.State(op.Spec{Right: "space.post", MCP: "-", Socket: true,
			Doc: "Forget the attachments that were kept long enough."},
			func(struct{}) op.Resource { return At("") }, r.sweep),
		SpaceStepDown.State(op.Spec{Right: "space.post", Method: "POST", Path: "/space/step_down", MCP: "-",
			Secret: []string{"envelope"},
			Doc:    "Tell a host that a member took over with a higher term, so that it stops hosting."},
			func(in StepDownIn) op.Resource { return envelopeAt(PostIn{Envelope: in.Envelope}) }, r.stepDown),
		SpaceHandOver.State(op.Spec{Right: "space.post", MCP: "-", Socket: true, Secret: []string{"leave"},
			Doc: "Leave a space, and name the member whose machine hosts it next."},
			func(in HandOverIn) op.Resource { return At(in.Space) }, r.handOver),
		SpaceHosted.Read(op.Spec{Right: "space.read", Method: "GET", Path: "/space/hosted", MCP: "-",
			Doc: "List the spaces that this machine hosts, as a host sees them: members, entries and terms by number, and no word of theirs."},
			func(struct{}) op.Resource { return At("") }, r.hosted),
		SpaceRemote.Call(op.Spec{Method: "POST", Path: "/space/remote", MCP: "-", Public: true,
			Doc: "Carry a member's call from another machine.\nThe member's signature is its credential; " +
				"it reaches its own space and nothing else."},
			func(RemoteIn) op.Resource { return At("") }, r.remote),
		SpaceKnock.Call(op.Spec{Method: "POST", Path: "/space/knock", MCP: "-", Public: true,
			Doc: "Begin to join a space with an invite code.\nIt carries one CPace message; five attempts a minute and invite from one source."},
			func(KnockIn) op.Resource { return At("") }, r.knock),
		SpaceKnockNext.Call(op.Spec{Method: "POST", Path: "/space/knock/next", MCP: "-", Public: true,
			Doc: "Continue to join: confirm the code and wait for the inviter's next message."},
			func(NextIn) op.Resource { return At("") }, r.next),
		SpaceKnockReply.Call(op.Spec{Right: "space.post", Method: "POST", Path: "/space/knock/reply", MCP: "-",
			Doc: "Answer somebody who knocks, as the inviter."},
			func(in ReplyIn) op.Resource { return At(in.Space) }, r.reply),
	}
}
