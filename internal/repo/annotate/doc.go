// Package annotate finds where the lines of a file come from: it follows the
// file through history and says for each line which commit brought it. It reads
// and changes nothing.
package annotate
