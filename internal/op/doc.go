// Package op is the table of operations: everything that anybody can do to
// tandem is one row here, with its class, typed input and output, the right it
// needs, the resource it touches, its route, its tool name and its
// documentation. Doors translate a wire into a row and a typed input; the gate
// alone runs a row's handler. Nothing in this package decides anything.
//
// A row is made with Read, State, Effect, Stream or Call. Table.Add refuses a row
// without a right, a resource or a sentence of documentation, so a forgotten
// guard stops the program at start and not in production.
package op
