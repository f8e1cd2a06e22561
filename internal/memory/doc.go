// Package memory owns what a team remembers: records, each with its text, where it comes from, who answers for it and how far it
// reaches.
//
// A record is proposed, live, superseded or forgotten. What an agent writes is proposed, and nobody is told it until a person who is
// present has read it and made it live; what such a person writes is live at once. A newer record supersedes the one that it
// contradicts: both stay. Forgetting deletes every text that a record ever had, and leaves a row that says when.
//
// Trust is stamped here and never asked for: stated, approved or untrusted, and never more than that of a record it follows from.
//
// Every record lies in a place: the team's, a project's, a session's or a curated collection's. Places are what policy speaks of
// (memory:/project/payments), and which of them a caller may read is a condition of every query. Scores are counted over those
// places alone, so that what somebody may not read changes neither what they find nor its order.
//
// The journal, stored answers and asks never hold a text, a label or a source: they are withheld from all three, so that what is
// forgotten is gone.
//
// It refuses texts over 16 KB, more than a thousand proposals of one author at a time, and anything that hides or orders by what the
// caller may not see.
package memory
