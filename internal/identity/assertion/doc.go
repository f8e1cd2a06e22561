// Package assertion reads signed context assertions: the word of a control plane in front of this server about whom a request is for.
// One is a compact JWS, signed with Ed25519 by a key that a person enrolled here or that the settings name. It says who, never that
// somebody is present, and never more than the policy of this house gives that person.
//
// Everything that is wrong has a reason of its own, which the journal keeps. Checks come in one order: form, signature, claims, key.
// Whether its actor is there and whether it was seen before is asked by whoever has a database. The package is pure.
package assertion
