// Package artifact keeps what automations make: reports, dashboards, slides, tables.
//
// A body is stored once for a tenant, under the digest of its bytes, and never changes. A row is one making of it: a version of a name
// (AUTOMATION.NODE.OUTPUT), with its kind, who made it in which run and attempt, the digests of what it was made from, which checks it
// passed, and whether a model had a hand in it. A body goes when the last row goes that names it. No body is found from another tenant.
//
// It refuses bodies that are too large, and, once a tenant keeps as much as it may, everything until somebody removes some. Whoever may
// read artifact:/AUTOMATION/NODE/OUTPUT may read all versions of it. Only the server keeps one, for a run.
package artifact
