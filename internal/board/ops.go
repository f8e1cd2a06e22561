package board

import (
	"tandem/internal/op"
	"tandem/internal/space"
)

// At is a space's board as policy sees it.
func At(space string) op.Resource { return op.Resource{Kind: "board", Path: "/" + space} }

func at(in space.PostIn) op.Resource {
	if in.Envelope == nil {
		return At("")
	}
	return At(in.Envelope.Space)
}

// Ops is this room's front door: what members' daemons say to the host of a
// board. What people and agents call is in package peer.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		BoardChange.State(op.Spec{Right: "board.post", Method: "POST", Path: "/board/change", MCP: "-", Secret: []string{"envelope"},
			Doc: "Add, claim, update, hand over or finish a task: one envelope, refereed on its clear part.\nThe first to claim wins; " +
				"the second is told who holds it."},
			at, r.change),
		BoardStructure.Read(op.Spec{Right: "board.read", Method: "GET", Path: "/board/{space}/structure", MCP: "-",
			Doc: "Show a hosted board's structure: ids, states, priorities, holders, dependencies; never its words."},
			func(in StructureIn) op.Resource { return At(in.Space) }, r.structure),
		BoardAdopt.State(op.Spec{Right: "board.write", MCP: "-", Socket: true, Secret: []string{"entries", "envelope"},
			Doc: "Become the host of a space whose host is gone, from a member's copy of its log."},
			func(in AdoptIn) op.Resource { return At(in.Space) }, r.adopt),
		BoardExpire.State(op.Spec{Right: "board.write", MCP: "-",
			Doc: "Return the tasks whose leases have run out and say so in their spaces."},
			func(struct{}) op.Resource { return At("") }, r.expire),
	}
}
