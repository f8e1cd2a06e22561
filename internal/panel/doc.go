// Package panel is the web control panel: a door for people. It translates
// requests into operations and answers into pages; it decides nothing and
// knows no room. Pages are rendered on the server and kept current by a stream
// of topics from the journal; reading them needs no scripts, acting does: every
// act is signed by the browser's key (package sign).
//
// A page is <noun>.go (what it shows) and <noun>.templ (how); parts shared by
// pages are in package ui, files in package static. docs/panel.md tells how to
// add one.
package panel

//go:generate go run github.com/a-h/templ/cmd/templ generate -include-version=false -path .
//go:generate gofmt -w .
