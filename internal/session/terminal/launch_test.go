package terminal

import (
	"path/filepath"
	"testing"
)

// A program that lies in the home folder itself, or in the temporary one, does not bring all of it into the sandbox.
func TestAPlaceDoesNotShowWhatIsKept(t *testing.T) {
	home := t.TempDir()
	d := &Driver{Options: Options{Home: home, Folder: filepath.Join(home, ".tandem", "terminals")}}
	for program, want := range map[string]string{
		filepath.Join(home, "tandem"):                 home + "/tandem",
		filepath.Join(filepath.Dir(home), "tandem"):   filepath.Dir(home) + "/tandem",
		filepath.Join(home, ".local", "bin", "codex"): home + "/.local/bin",
		filepath.Join(home, ".tandem", "tandem"):      home + "/.tandem/tandem",
		"/usr/bin/claude":                             "/usr/bin",
		"/claude":                                     "/claude",
	} {
		if got := d.place(program); got != want {
			t.Errorf("of %s is shown %s, not %s", program, got, want)
		}
	}
}
