// Package text is output with labels: bytes in which stretches carry names
// such as "commit_id" or "diff added". Templates and diffs write it; Colours
// turns it into plain or coloured bytes at the end. In between it can be
// measured, indented, padded, truncated and wrapped without losing labels.
package text
