package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var sample = unit{Program: "/usr/local/bin/tandem", Data: "/home/ada/.tandem", Path: "/usr/local/bin:/usr/bin:/bin"}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	t.Run("of a user", func(t *testing.T) { accepted(t, systemdUnit, "--user") })
	t.Run("of the machine", func(t *testing.T) { accepted(t, systemUnit, "--system") })
}

func accepted(t *testing.T, form, of string) {
	odd := sample.Path + ":/mnt/c/Program Files/100%/bin"
	text, err := render(form, unit{Program: "/bin/true", Data: sample.Data, Path: odd, User: "daemon"})
	if err != nil {
		t.Fatal(err)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatal("systemd-analyze is missing: run make test-tools")
	}
	file := filepath.Join(t.TempDir(), "tandem.service")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(analyze, "verify", "--man=no", of, file)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "tandem.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestGoldenPlist(t *testing.T) {
	got, err := render(launchdPlist, sample)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/dev.tandem.server.plist")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the plist changed; if that is meant, update testdata:\n%s", got)
	}
}

func TestPurgeRefusesAFolderThatIsNotOurs(t *testing.T) {
	dir := t.TempDir()
	os.Chmod(dir, 0o700)
	keep := filepath.Join(dir, "thesis.tex")
	os.WriteFile(keep, nil, 0o600)
	if err := removeData(dir); err == nil {
		t.Error("a folder without a lock file was deleted")
	}
	if _, err := os.Stat(keep); err != nil {
		t.Error("a file is gone")
	}
}

// One account has one service. A command with --data for another installation leaves it alone: uninstall removed it.
func TestAServiceOfAnotherFolderStays(t *testing.T) {
	for _, text := range []string{systemdUnit, launchdPlist} {
		content, err := render(text, sample)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "service")
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if data, err := serves(file); err != nil || data != sample.Data {
			t.Errorf("%q, %v", data, err)
		}
	}
}
