package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

func run(t *testing.T, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// The bytes of an archive follow from the files alone, not from when and where they lie.
func TestArchivesAreAlike(t *testing.T) {
	var sums []string
	for i := range 2 {
		dir, out := testenv.Dir(t), testenv.Dir(t)
		var folders []string
		for _, p := range []string{"tandem-v1-linux-amd64", "tandem-v1-windows-arm64"} {
			write(t, filepath.Join(dir, p, "tandem"), "program", 0o700|os.FileMode(i))
			write(t, filepath.Join(dir, p, "LICENSE"), "text", 0o600)
			if err := os.Chtimes(filepath.Join(dir, p, "LICENSE"), time.Now(), time.Unix(int64(i), 0)); err != nil {
				t.Fatal(err)
			}
			folders = append(folders, filepath.Join(dir, p))
		}
		if err := pack(out, time.Unix(1e9, 0), folders); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(b))
	}
	if sums[0] != sums[1] || strings.Count(sums[0], "\n") != 2 {
		t.Errorf("%s\n%s", sums[0], sums[1])
	}
}

// A release is built twice and is the same twice; what it holds is put in place, and not when a byte of it is another one.
func TestReleaseIsInstalled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts/install is for Linux and macOS")
	}
	a, b, home := testenv.Dir(t)+"/a", testenv.Dir(t)+"/b", testenv.Dir(t)
	platform := "PLATFORMS=" + runtime.GOOS + "/" + runtime.GOARCH
	for _, out := range []string{a, b} {
		if said, err := run(t, []string{platform, "OUT=" + out}, "scripts/release"); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	first, err := os.ReadFile(a + "/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(b + "/SHA256SUMS"); err != nil || string(first) != string(second) {
		t.Errorf("two builds differ: %v\n%s\n%s", err, first, second)
	}

	env := []string{"HOME=" + home, "PREFIX=" + home + "/.local"}
	said, err := run(t, env, "scripts/install", a)
	if err != nil || !strings.Contains(said, "the checksum is right") || !strings.Contains(said, "tandem setup") {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, f := range []string{"share/man/man1/tandem-session-open.1", "share/bash-completion/completions/tandem",
		"share/zsh/site-functions/_tandem",
		"share/fish/vendor_completions.d/tandem.fish"} {
		if info, err := os.Stat(home + "/.local/" + f); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if said, err := run(t, env, home+"/.local/bin/tandem", "version"); err != nil || !strings.HasPrefix(said, "tandem ") {
		t.Errorf("%v\n%s", err, said)
	}
	if said, err := run(t, env, "scripts/install", "--remove"); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	if _, err := os.Stat(home + "/.local/bin/tandem"); !os.IsNotExist(err) {
		t.Errorf("the program is still there: %v", err)
	}

	archives, err := filepath.Glob(b + "/tandem-*.tar.gz")
	if err != nil || len(archives) != 1 {
		t.Fatalf("%v %v", archives, err)
	}
	content, err := os.ReadFile(archives[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	write(t, archives[0], string(content), 0o644)
	if said, err := run(t, env, "scripts/install", archives[0]); err == nil || !strings.Contains(said, "its checksum is") {
		t.Errorf("a changed archive: %v\n%s", err, said)
	}
	if err := os.Remove(b + "/SHA256SUMS"); err != nil {
		t.Fatal(err)
	}
	if said, err := run(t, env, "scripts/install", archives[0]); err == nil || !strings.Contains(said, "there is no") {
		t.Errorf("an archive without checksums: %v\n%s", err, said)
	}
	if _, err := os.Stat(home + "/.local/bin/tandem"); !os.IsNotExist(err) {
		t.Errorf("it was installed all the same: %v", err)
	}
}
