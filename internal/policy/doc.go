// Package policy decides: grants + rules + a request give allow, ask or deny, with the reason, the grant or
// rule that decided, and who may answer an ask. It is pure. It reads no clock, no file and no database: a
// tenant's grants and rules are compiled once into a Compiled, a caller's share of it into a View, and a View
// answers Decide (one exact request) and May (is this worth showing at all?).
//
// # Order of a decision
//
//  1. what is malformed, unknown, of another tenant, expired or above the caller's ceiling is denied;
//  2. a right that needs a person present is denied to everybody else;
//  3. a data class outside a boundary is denied;
//  4. a deny grant denies, and so does a rule that forbids or a forbidding rule that fails. When it is not known what a call
//     touches, a person's denial holds all the same, and one of the house's defaults turns an allow into an ask;
//  5. otherwise the grants and permitting rules are read in tiers: what people granted, then the house's defaults, then
//     its fallbacks. The first tier that speaks decides, and within it ask beats allow;
//  6. a forbidding rule marked @ask turns what is left into an ask;
//  7. nothing that speaks is a denial.
//
// Everyone in a caller's chain (a session, the agent it is, the person it acts for) passes these steps, and the
// narrowest answer counts: nobody lends more than he has. Whoever only prompted the caller passes step 4 alone: what is denied to it
// is not done for it either, and what nobody granted to it may be.
//
// # Invariants
//
// The zero View, the zero Compiled and the zero Effect refuse. Adding a deny never turns a no into a yes. A delegated
// grant covers nothing its parent does not, and is dead as soon as its parent is. An error is a refusal.
package policy
