// Package notify tells people and programs that work has ended, or that it waits for a person: a line in events.log, a signed call
// of a webhook, a push to a phone by ntfy, a notice on the desktop. It decides nothing: a push points to where a person decides.
//
// A notice is a row before anybody is told, one for each way it goes, and the row goes when that way took it. So a restart
// loses none, a way that fails is tried again, further and further apart, for a day, and holds up no other. A notice may
// arrive twice when a crash falls between its arrival and the row's end; it carries its id.
package notify
