// Package contextrun owns context runs: work without a definition whose steps, tasks, blackboard and checkpoints are written down as it
// goes, by whoever does it. In names of operations, routes and commands the noun is context.
//
// What happens to a run is an event, and its rows are what the events make of it (fold.go, pure): a replay folds the events again and
// says where the rows say something else. An event costs the same however many there are. A task is held by one worker at a time: a claim
// gives it a lease and a token, and grows the attempt; whoever reports later with an older token is refused. A lease that has ended is
// seen by the next claim, so what waits is rows and no goroutine. Changes of a run go by its revision, those of a task by the task's.
//
// A run is queued, planning, running, awaiting_approval, paused, blocked or failed, and goes on from there; completed and cancelled are
// for good. Nothing of it is claimed while it is paused, blocked or awaits an approval. These are words of who works: a run confers no
// authority, and whatever is done for it goes through the gate as anything else.
//
// It refuses what would grow for ever, tasks that wait for each other in a circle, and to change what has ended.
package contextrun
