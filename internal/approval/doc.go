// Package approval owns asks: calls that wait for somebody's yes. An ask is a row, bound to its asker and to a digest of
// the exact call, so it survives a crash and approves nothing but what was shown.
//
// # States
//
//	pending ──► approved ──► spent
//	   │            └──────► expired
//	   ├──► rework           (with feedback: change it)
//	   ├──► cancelled        (no)
//	   └──► expired
//
// While an ask stands, the same call by the same asker finds it again: pending is waited for, approved is spent by the call,
// once, in the call's own transaction, and rework or cancelled is the answer until the ask's time is over.
//
// # Invariants
//
// An ask is decided once, by compare-and-set: the first answer counts and the others are told whose it was; where the policy wants two
// people, the first yes is kept and leaves it pending. Only a person who is present decides, only one whom the policy named, in the way
// it wants, and never the asker. What is decided is decided on the digest that
// was shown. An approval is spent at most once.
package approval
