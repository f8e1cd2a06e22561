// Package automation is work that goes on without anybody watching: definitions, and what became of their runs.
//
// A definition is a text (package spec) whose versions are frozen by the digest of what they mean. It is stored switched off. A person
// who is present switches one version on, after seeing what it may do; that makes the automation's own actor, which acts for that person,
// and the few grants that it needs. Switching it off takes the grants back and pauses its runs.
//
// A run is the events of one beginning (package run), kept as rows and folded to go on, with one row for each attempt of a step. Whoever
// does a step claims its row, with a lease and a fence; what it writes later is refused when the fence has moved. Steps act through the
// gate with a key made of run, node, item and attempt, so that the gate knows after a crash whether they acted: what it does not know is
// unknown, and stays so until a person says what is to be done. A step that waits holds no goroutine.
//
// It refuses to begin what is switched off, what nobody approved, and more runs at once than the definition says.
package automation
