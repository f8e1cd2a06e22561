// Package remote knows the servers that workspaces and logins of this machine belong to: their keys, as whom this machine is let in there,
// and the way to them. It passes requests on, follows what changes there for the copies here, and asks for leases in their name.
//
// What it holds it lends to nobody: a token goes to the server whose key it belongs to, and what is denied to somebody in a copy here is
// not fetched for them from there.
package remote
