// Package httpapi turns the table of operations into HTTP: a route for each
// row, faults as statuses, the journal as an event stream, and the document
// that describes it all (/openapi.json). It decides nothing: who calls comes
// from an Authenticator that the listener brings, whether they may comes from
// the gate.
package httpapi
