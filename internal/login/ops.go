package login

import (
	"tandem/internal/login/wire"
	"tandem/internal/op"
)

func at(name string) op.Resource { return op.Resource{Kind: "login", Path: "/" + name} }

// Ops is this room's front door. It is for this machine alone: what a login is good for, its server says.
func (r *Room) Ops() []op.Op {
	return []op.Op{
		wire.List.Read(op.Spec{Right: "login.read", Socket: true, MCP: "-",
			Doc: "List the servers that the person of this machine is logged in at."},
			func(struct{}) op.Resource { return at("") }, r.list),
		wire.Add.State(op.Spec{Once: true, Right: "login.create", Socket: true, MCP: "-", Secret: []string{"token", "sealed"},
			Doc: "Keep a login that a server gave, with its token sealed. Commands take that server from then on."},
			func(in wire.AddIn) op.Resource { return at(in.Name) }, r.add),
		wire.Use.State(op.Spec{Right: "login.write", Socket: true, MCP: "-",
			Doc: "Have commands take another server that you are logged in at; own is this machine's."},
			func(in wire.NameIn) op.Resource { return at(in.Name) }, r.use),
		wire.Forget.State(op.Spec{Right: "login.write", Socket: true, MCP: "-",
			Doc: "Forget a login on this machine, with its token."},
			func(in wire.NameIn) op.Resource { return at(in.Name) }, r.forget),
		wire.Device.Read(op.Spec{Right: "login.read", Socket: true, MCP: "-",
			Doc: "Get the key with which this machine answers for its person at a server, sealed under their PIN there. For their own terminal."},
			func(in wire.NameIn) op.Resource { return at(in.Name) }, r.device),
		wire.PIN.State(op.Spec{Once: true, Right: "login.write", Socket: true, MCP: "-", Secret: []string{"sealed"},
			Doc: "Keep that key under another PIN. The server is not told: it never knew the PIN."},
			func(in wire.PINIn) op.Resource { return at(in.Name) }, r.pin),
		op.Stream(op.Spec{Name: wire.Forward, Right: "login.use", Socket: true,
			Doc: "Pass a command's request on to the server of a login."},
			func(in wire.NameIn) op.Resource { return at(in.Name) }, nil),
	}
}
