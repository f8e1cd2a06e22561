// Package connector owns outside MCP servers as tools: which there are, what they offer, and every call to them.
//
// # States
//
//	new ──► ready ⇄ quarantined      (its tools changed: nobody calls it until a person looked)
//	 ├───► failed                     (the last look did not succeed)
//	 └───► auth_required              (it wants a sign-in: connector.login says where, and the next look tries again)
//
// and each of them may be disabled. A connector is asked what it offers when somebody says so (sync) and before each call: when
// the digest of its tools is not the one that a person accepted, the call is not made and the connector is quarantined.
//
// A sign-in (OAuth: discovery, registration, PKCE) is kept sealed and renewed when it runs out; when it cannot be renewed the
// connector is in auth_required until a person signed in again.
//
// A call opens its own connection and closes it, within limits of time and size, so a slow or crashing server harms that call
// alone. A secret is lent to the one call and sent in the one header that was named. It belongs to the connector it was stored
// for: one that is added later under the same name does not inherit it. Addresses go through the egress guard. A
// command runs in a sandbox with an empty environment, and adding one needs a person present, because it is running code.
package connector
