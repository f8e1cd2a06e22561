// Package decode makes text out of documents: Markdown, HTML, text, code, PDF, DOCX, XLSX, PPTX, e-mail, CSV, JSON and notebooks.
// One format is one file. It computes only, on bytes that the caller read, so that it can run in a box
// that has neither files nor a network.
//
// A document becomes parts, each with the place by which somebody can find it again: a heading, a slide, rows of a sheet, lines of a file.
// What a reader of the document would not see (hidden text, comments, deleted words) is no text of it; that there was some is said.
//
// It refuses what is larger, deeper or more tightly packed than the limits that it was given, and what it cannot read, with a reason for
// people. It never gives half a document without saying so.
package decode
