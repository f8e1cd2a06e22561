// Package watch says how the files of a folder stand and what became different about them, and hears from the kernel that it is time to
// look. It keeps nothing: whoever asks remembers how they stood.
//
// It refuses to follow links, to look at files that hold keys, and to count without end.
package watch
