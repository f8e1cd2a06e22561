// Package team is several agents on one goal. A lead makes a plan of tasks; a person approves or edits it, present; then the team, and not
// the lead, has each task done as a job of its own, when those before it are merged and a place is free. It is a row: events move it from
// state to state (machine.go, pure), and the row alone says what is next, so that a server that was killed goes on with it.
//
//	planning ──► plan waits ──► working ──► done
//	                              │  ▲
//	                              ▼  │        paused: by a person or at its time; blocked: it cannot go on by itself
//	                            paused, blocked       stopped: from anywhere but done
//
// What it does it does through the gate, as whoever started it: jobs keep their own rules, so that what a task made is checked, looked at
// by a person and merged as any job is. The lead only looks, and is called for a plan and for a task that failed: a team that waits
// calls nobody. Each task has a share of the budget, and the lead has the rest: all together they are not more than the budget.
package team
