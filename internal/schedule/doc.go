// Package schedule is what the server does by itself at times that a person set: a copy of everything, and forgetting the payloads of
// old events. A schedule is one row for each kind, which the journal vouches for, together with a grant for the server itself: without
// both it is not done. A moment that was missed is made up for once; what failed is tried again after an hour, and stays told until it
// is done.
package schedule
