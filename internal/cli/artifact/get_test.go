package artifact

import "testing"

// A server names the file, and no folder.
func TestAFileHasAPlainName(t *testing.T) {
	for name, want := range map[string]bool{"weekly.draft.report-2.md": true, "weekly.write.slides.3-1.pptx": true, "../x.md": false,
		"/home/ann/.config/autostart/x.desktop": false, ".bashrc": false, "a/b.md": false, `a\b.md`: false, "a..b.md": false, "x.desktop": false,
		"con.md\n": false, "": false} {
		if got := plainFile.MatchString(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
