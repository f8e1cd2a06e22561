// Package book keeps each tenant's policy: the rules people write and the grants they give, every version of both.
//
// Nothing is ever changed in place. An edit of the rules, a grant and a revocation each make the next version of the tenant's
// policy; the rules of a version are those of the last edit up to it, its grants those added and not yet revoked by then.
// What does not compile is refused and leaves no trace.
//
// The compiled policy is kept in memory and follows the changes, at this server and at others. Without one (it cannot be
// read, it does not compile) there is no answer but an error, and to the gate an error is a refusal.
package book
