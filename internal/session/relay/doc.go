// Package relay runs two sessions that talk to each other: a lead that plans and reviews, and a worker that builds. The lead is
// a persistent manager: when a task is done it parks and waits for the next one.
//
// # States
//
//	running ──► parked ──► running            (enqueue gives it the next task)
//	   │  ▲        └─────► done               (nothing came in time)
//	   │  └── needs input ──► done            (the first enqueue is the answer and resumes the same task)
//	   ├────► blocked                         (a dead end: it says why)
//	   └────► stopped                         (by a person)
//
// A relay is a row. Each step is stored before it is taken, and taken with a key of its own, so a crash at any instant repeats
// nothing: the step that was under way is found again as the same turn. While it waits it calls nobody.
//
// A turn that a restart cut off is not begun again as it was: the side is told so and goes on, in a turn of its own. The two
// sessions belong to the relay while it is not over; nobody else drives them.
//
// The files below manager/ in the data folder are a view for people. Nothing reads them back.
package relay
