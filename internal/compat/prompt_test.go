package compat

import "testing"

// A file that a client names by its path was refused. The session is told the path, and reads it with its own rights.
func TestAFileIsNamedByItsPath(t *testing.T) {
	for address, want := range map[string]string{
		"/home/me/note.txt": "/home/me/note.txt", "file:///home/me/a%20note.txt": "/home/me/a note.txt",
		"data:text/plain;base64,YQ==": "", "https://example.org/x": "", "note.txt": "", "": "", "/a\nb": "", "file:///a%0Ab": "",
	} {
		if got := onDisk(address); got != want {
			t.Errorf("%q is %q, not %q", address, got, want)
		}
	}
}
