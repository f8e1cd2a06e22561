package peer

import (
	"context"
	"testing"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// local is a command of the person whose machine it is, panel that person in a browser.
func (h *house) local() context.Context {
	return op.WithCaller(h.t.Context(), op.Caller{Tenant: identity.LocalTenant, Actor: "act_local", Name: "local", Kind: op.Local,
		For: []string{"person:owner"}, Door: op.DoorSocket, Request: "req", Client: op.Client{Folder: h.dir}})
}

func (h *house) panel() context.Context {
	return op.WithCaller(h.t.Context(), op.Caller{Tenant: identity.LocalTenant, Actor: "act_owner", Name: "owner", Kind: op.Person,
		Door: op.DoorPanel, Request: "req"})
}

// by runs an operation and fails the test when it fails.
func by[Out any](h *house, who context.Context, name string, in any) Out {
	h.t.Helper()
	out, err := h.gate.Invoke(who, name, in)
	if err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	return out.(Out)
}

// The command line and the panel of one person are one member.
func TestAPersonHasOneSeat(t *testing.T) {
	h := newHouse(t)
	by[Who](h, h.local(), "space.rename", RenameIn{Name: "Pat"})
	code := by[Created](h, h.local(), "space.create", CreateIn{Name: "one"}).Code
	do[Joined](h, "ann", "space.join", JoinIn{Code: code})
	do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "for Pat", To: "Pat"})
	if got := by[Who](h, h.panel(), "space.whoami", nil); got.Username != "Pat" {
		t.Errorf("in the panel the person is %q", got.Username)
	}
	by[BoardOut](h, h.panel(), "board.show", BoardIn{})
	h.contains(by[Inbox](h, h.panel(), "space.inbox", InboxIn{}).Text, "for Pat")
	h.contains(by[Inbox](h, h.local(), "space.inbox", InboxIn{}).Text, "No unread messages")
	if n := len(by[Peers](h, h.panel(), "space.peers", nil).Peers); n != 2 {
		t.Errorf("there are %d members", n)
	}
	agent := op.CallerFrom(h.local())
	agent.Actor, agent.Name, agent.Kind, agent.Via, agent.Client.ID = "act_mcp", "mcp", op.Agent, "act_local", "7.1"
	if _, err := h.gate.Invoke(op.WithCaller(t.Context(), agent), "board.show", BoardIn{}); err == nil {
		t.Error("an agent at work for the person sits on the person's seat")
	}
}

// Seats that commands took before move to the person, with the name; of two in one space the first stays.
func TestSeatsMoveToThePerson(t *testing.T) {
	h := newHouse(t)
	do[Who](h, "ann", "space.rename", RenameIn{Name: "Pat"})
	code := do[Created](h, "ann", "space.create", CreateIn{Name: "one"}).Code
	by[Joined](h, h.panel(), "space.join", JoinIn{Code: code})
	do[Said](h, "ann", "space.set_var", SetVarIn{Key: "k", Value: "v"})
	first := h.peers.all()[0]
	plain, err := h.peers.nameOf(t.Context(), identity.LocalTenant, "actor/act_ann")
	if err == nil {
		err = h.peers.setName(t.Context(), identity.LocalTenant, theLocal, plain)
	}
	if err == nil {
		err = h.db.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec("UPDATE peer_seat SET owner = ? WHERE owner = 'actor/act_ann'", theLocal)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	h.restart()
	eventually(t, "the second seat being left", func() bool { return len(h.peers.all()) == 1 })
	if s := h.peers.all()[0]; s.id != first.id || s.owner != theOwner {
		t.Errorf("%s of %s is left, want %s", s.id, s.owner, first.id)
	}
	if got := by[Who](h, h.panel(), "space.whoami", nil); got.Username != "Pat" {
		t.Errorf("the person is %q", got.Username)
	}
	for _, who := range []context.Context{h.local(), h.panel()} {
		h.contains(by[Vars](h, who, "space.get_var", GetVarIn{Key: "k"}).Text, "k = v")
	}
}
