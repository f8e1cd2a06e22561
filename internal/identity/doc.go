// Package identity owns who acts: tenants, actors (person, agent, session,
// service, each possibly acting for another), their credentials, and the
// presence of a person.
//
// A uid is not a person. The control socket proves only that some program of
// this user calls, so it gives the actor "local": everyday rights. Presence is
// proven each time it matters, by a PIN typed on a terminal (Argon2id at rest,
// with growing pauses after wrong tries) or by a passkey in the panel.
//
// Tokens are random, hashed at rest, scoped by the actor they belong to,
// expiring, revocable and listed with their last use. A sign-in link works
// once and gives a cookie, which is never presence.
package identity
