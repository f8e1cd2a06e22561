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
		op.State(op.Spec{Name: "space.start", Right: "space.create", Method: "POST", Path: "/space", MCP: "-", Status: 201,
			Doc: "Start hosting a space with its first member."},
			func(in StartIn) op.Resource { return At(in.Space) }, r.start),
		op.State(op.Spec{Name: "space.post", Right: "space.post", Method: "POST", Path: "/space/post", MCP: "-", Secret: []string{"envelope"},
			Doc: "Append a member's envelope to its space's log.\nThe host checks signature, epoch, sequence and rate, and cannot open it."},
			envelopeAt, r.post),
		op.Read(op.Spec{Name: "space.pull", Waits: true, Right: "space.post", Method: "POST", Path: "/space/pull", MCP: "-",
			Doc: "Read a space's log from a number on, and wait for more when there is none."},
			func(in PullIn) op.Resource { return At(in.Space) }, r.pull),
		op.State(op.Spec{Name: "space.invite_open", Right: "space.post", Method: "POST", Path: "/space/invite/open", MCP: "-",
			Doc: "Register an invite by the part of its code that is not secret."},
			func(in InviteIn) op.Resource { return At(in.Space) }, r.invite),
		op.State(op.Spec{Name: "space.invite_close", Right: "space.post", Method: "POST", Path: "/space/invite/close", MCP: "-",
			Doc: "End an invite that was used, burned or revoked."},
			func(in UninviteIn) op.Resource { return At(in.Space) }, r.uninvite),
		op.State(op.Spec{Name: "space.step_down", Right: "space.post", Method: "POST", Path: "/space/step_down", MCP: "-",
			Secret: []string{"envelope"},
			Doc:    "Tell a host that a member took over with a higher term, so that it stops hosting."},
			func(in StepDownIn) op.Resource { return envelopeAt(PostIn{Envelope: in.Envelope}) }, r.stepDown),
		op.State(op.Spec{Name: "space.hand_over", Right: "space.post", MCP: "-", Socket: true,
			Doc: "Name the member whose machine hosts the space next, when this one leaves."},
			func(in HandOverIn) op.Resource { return At(in.Space) }, r.handOver),
		op.Read(op.Spec{Name: "space.hosted", Right: "space.read", Method: "GET", Path: "/space/hosted", MCP: "-",
			Doc: "List the spaces that this machine hosts, as a host sees them: members, entries and terms by number, and no word of theirs."},
			func(struct{}) op.Resource { return At("") }, r.hosted),
		op.Call(op.Spec{Name: "space.remote", Method: "POST", Path: "/space/remote", MCP: "-", Public: true,
			Doc: "Carry a member's call from another machine.\nThe member's signature is its credential; it reaches its own space and nothing else."},
			func(RemoteIn) op.Resource { return At("") }, r.remote),
		op.Call(op.Spec{Name: "space.knock", Method: "POST", Path: "/space/knock", MCP: "-", Public: true,
			Doc: "Begin to join a space with an invite code.\nIt carries one CPace message; five attempts a minute and invite from one source."},
			func(KnockIn) op.Resource { return At("") }, r.knock),
		op.Call(op.Spec{Name: "space.knock_next", Method: "POST", Path: "/space/knock/next", MCP: "-", Public: true,
			Doc: "Continue to join: confirm the code and wait for the inviter's next message."},
			func(NextIn) op.Resource { return At("") }, r.next),
		op.Call(op.Spec{Name: "space.knock_reply", Right: "space.post", Method: "POST", Path: "/space/knock/reply", MCP: "-",
			Doc: "Answer somebody who knocks, as the inviter."},
			func(in ReplyIn) op.Resource { return At(in.Space) }, r.reply),
	}
}
