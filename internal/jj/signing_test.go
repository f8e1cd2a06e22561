package jj

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo/stocktest"
)

const signatureTemplate = `commit_id.short() ++ " " ++ if(signature, signature.status() ++ " " ++ signature.key() ++ " " ++ ` +
	`signature.display(), "none") ++ "\n"`

// TestSSHSignaturesAgainstStock signs with ssh keys, whose signatures are the
// same each time, so that all ids have to agree with stock jj's.
func TestSSHSignaturesAgainstStock(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	for _, name := range []string{"key", "other"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", filepath.Join(dir, name)).
			CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t, "--no-colocate")
	p.run(t.Context(), "sign")
	p.stock.Configure(fmt.Sprintf("signing.backend = \"ssh\"\nsigning.key = %q\nui.show-cryptographic-signatures = true", key))
	p.write("f", "1\n")
	p.run(t.Context(), "commit", "-m", "one")
	p.run(t.Context(), "sign", "-r", "@-")
	p.same()
	look := []string{"log", "-T", signatureTemplate}
	p.run(t.Context(), look...)
	p.run(t.Context(), "log")
	p.run(t.Context(), "show", "@-")
	p.run(t.Context(), "log", "-r", "signed()", "-T", "commit_id.short()")
	// A signature is kept: made anew when the commit is rewritten.
	p.run(t.Context(), "describe", "@-", "-m", "one, again")
	p.same()
	p.run(t.Context(), "bookmark", "create", "b", "-r", "@-")
	p.run(t.Context(), "duplicate", "b")
	p.run(t.Context(), "new", "b")
	p.same()
	// Whose it is is known with a list of signers.
	signers := filepath.Join(dir, "signers")
	stocktest.Write(t, signers, "test.user@example.com "+string(public))
	p.stock.Configure(fmt.Sprintf("signing.backends.ssh.allowed-signers = %q", signers))
	p.run(t.Context(), look...)
	p.run(t.Context(), "sign", "-r", "@", "--key", filepath.Join(dir, "other"))
	p.run(t.Context(), look...)
	p.run(t.Context(), "sign", "-r", "@", "--key", filepath.Join(dir, "missing"))
	p.same()
	p.run(t.Context(), "unsign", "-r", "b")
	p.run(t.Context(), "unsign", "-r", "all() ~ root()")
	p.same()
	p.run(t.Context(), look...)
	for _, behavior := range []string{"own", "force", "drop", "sometimes"} {
		p.stock.Configure("[[--scope]]\n--when.commands = [\"new\", \"describe\"]\nsigning.behavior = \"" + behavior + "\"")
		p.run(t.Context(), "new", "-m", behavior)
		p.run(t.Context(), look...)
		p.same()
	}
}

// TestGPGSignaturesAgainstStock lets each program check what the other signed
// with gpg.
func TestGPGSignaturesAgainstStock(t *testing.T) {
	home, err := os.MkdirTemp("", "gpg") // the agent's socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	t.Setenv("GNUPGHOME", home)
	t.Cleanup(func() { exec.Command("gpgconf", "--kill", "all").Run() })
	gpg := filepath.Join(home, "run")
	stocktest.Write(t, gpg, "#!/bin/sh\nGNUPGHOME="+home+" exec gpg \"$@\"\n")
	if err := os.Chmod(gpg, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gpg", "--batch", "--passphrase", "", "--quick-gen-key", "test.user@example.com", "ed25519", "sign").
		CombinedOutput(); err != nil {
		t.Fatalf("gpg: %v: %s", err, out)
	}
	p := newPair(t, "--no-colocate")
	p.stock.Configure(fmt.Sprintf("signing.backend = \"gpg\"\nsigning.backends.gpg.program = %q", gpg))
	p.write("f", "1\n")
	p.run(t.Context(), "describe", "-m", "one")
	status := func(dir string, who string, run func(...string) string) {
		t.Helper()
		out := run("log", "--no-graph", "-r", "@", "-T", `signature.status() ++ " " ++ signature.display()`)
		if want := "good test.user@example.com"; out != want {
			t.Errorf("%s: %q, want %q", who, out, want)
		}
	}
	ours := func(dir string) func(...string) string {
		return func(args ...string) string {
			var out, errs strings.Builder
			if code := Main(t.Context(), args, IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Env: p.stock.Env(),
				Dir: dir}); code != 0 {
				t.Fatalf("jj %s: exit code %d: %s", strings.Join(args, " "), code, &errs)
			}
			return out.String()
		}
	}
	stock := func(dir string) func(...string) string {
		return func(args ...string) string { return p.stock.Run(dir, args...) }
	}
	stock(p.theirs)("sign", "-r", "@")
	ours(p.our)("sign", "-r", "@")
	for _, dir := range []string{p.theirs, p.our} {
		status(dir, "ours", ours(dir))
		status(dir, "stock", stock(dir))
	}
}

func TestGPGStatus(t *testing.T) {
	for _, c := range []struct {
		out                  string
		expired, known, told bool
		want                 string
	}{
		{"[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG AB Some One <a@b>\n", false, true, true, "good AB Some One <a@b>"},
		{"[GNUPG:] BADSIG AB X\n", false, true, true, "bad AB X"},
		{"[GNUPG:] EXPKEYSIG AB X\n", false, true, true, "bad AB X"},
		{"[GNUPG:] EXPKEYSIG AB X\n", true, true, true, "good AB X"},
		{"[GNUPG:] ERRSIG AB 1\n[GNUPG:] NO_PUBKEY AB\n", false, true, true, " AB "},
		{"[GNUPG:] NODATA 4\n[GNUPG:] FAILURE gpg-exit 1\n", false, false, true, "  "},
		{"[GNUPG:] FAILURE gpg-exit 1\n", false, false, false, "  "},
		{"", false, false, false, "  "},
	} {
		v, known, told := gpgStatus(c.out, c.expired)
		if got := v.Status + " " + v.Key + " " + v.Display; got != c.want || known != c.known || told != c.told {
			t.Errorf("%q: %q %v %v", c.out, got, known, told)
		}
	}
}
