// Package gate is the one door: who is it, may they, must somebody approve,
// record the intent, act, record the outcome. Every operation by anyone passes
// Do, whatever wire it came by. An error anywhere in here is a refusal.
//
// A read is decided and run. A state change, its event, the spending of its
// approval and its idempotency key are one transaction. An effect is written
// down before it is tried (its intent) and after (its outcome); when a crash
// falls between the two, Recover asks the room at the next start, and what the
// room cannot tell is recorded as unknown. A stream is admitted once, and ends
// soon after its caller would not be let in again.
//
// What a caller may not see is not found; what it sees and may not do is
// denied, with the reason and the next step.
package gate
