// Package make writes artifacts from values: a document becomes a Markdown report, a self-contained HTML page with charts drawn as SVG, or
// slides (.pptx); a table becomes CSV; any value becomes JSON. It computes only.
//
// A document is a stranger's text: everything is bounded and written as text, so that no markup, formula or address of it takes effect in
// what is made. What is made from the same document is the same bytes.
package make
