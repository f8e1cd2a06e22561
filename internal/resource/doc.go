// Package resource owns shared keys: small JSON values under a path
// ("run/build", "lock/deploy") that agents and people change with
// compare-and-set. A key may have an owner, a time to live and a fencing
// number, so that locks, leases and path reservations are resources and
// nothing of their own.
//
// A key is absent or present. It becomes present by a put, and absent by a
// delete or the moment its time to live has passed: an expired key is absent
// for every reader at once, before anybody has swept it. Every change raises
// its revision; every time it becomes present it gets a fencing number larger
// than any before it, so a holder that lost it cannot write by mistake.
//
// It refuses keys that are not plain paths, values over 64 KB, writes by
// others than the owner, and writes with a stale revision or fence.
package resource
