// Signatures by gpg, gpgsm and ssh, with the programs' arguments that jj 0.45.1 uses.

package jj

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
)

// Signatures are made and checked by outside programs: gpg, gpgsm and
// ssh-keygen.

// signer signs and verifies as the settings say.
type signer struct {
	e        *env
	backend  string // of new signatures; "" for none
	behavior string
	key      string
	checked  map[repo.CommitID]render.Verification
}

var signBehaviors = []string{"drop", "keep", "own", "force"}

// signer reads the settings of signatures.
func (e *env) signer() (*signer, error) {
	if e.signs != nil {
		return e.signs, nil
	}
	s := &signer{e: e, checked: map[repo.CommitID]render.Verification{}}
	var err error
	if s.backend, _, err = e.conf.String("signing.backend"); err != nil {
		return nil, err
	}
	if s.behavior, _, err = e.conf.String("signing.behavior"); err != nil {
		return nil, err
	}
	if !slices.Contains(signBehaviors, s.behavior) {
		return nil, e.conf.Mistyped("signing.behavior", fmt.Errorf("unknown variant `%s`, expected one of `%s`", s.behavior,
			strings.Join(signBehaviors, "`, `")))
	}
	if s.key, _, err = e.conf.String("signing.key"); err != nil {
		return nil, err
	}
	switch s.backend {
	case "none":
		s.backend = ""
	case "gpg", "gpgsm", "ssh":
	default:
		return nil, userf("Unknown signing backend configured: %s", s.backend)
	}
	e.signs = s
	return s, nil
}

// commit signs a commit that is to be written, if it shall be.
func (s *signer) commit(ctx context.Context, d *repo.Draft, data []byte) ([]byte, error) {
	own := d.Author.Email == s.e.conf.Str("user.email")
	wanted := d.Signing.Force || s.behavior == "force" || s.behavior == "own" && own || s.behavior == "keep" && own && d.Signing.Had
	if s.backend == "" || !wanted {
		return nil, nil
	}
	key := s.key
	if d.Signing.Key != "" {
		key = d.Signing.Key
	}
	sig, err := s.sign(ctx, data, key)
	if err != nil {
		return nil, internalf(chain{"Could not write object of type commit", signError(err)}, "Unexpected error from backend")
	}
	return sig, nil
}

func (s *signer) sign(ctx context.Context, data []byte, key string) ([]byte, error) {
	if s.backend != "ssh" {
		if key == "" {
			key = s.e.conf.Str("user.email")
		}
		out, errs, err := s.run(ctx, data, s.program(s.backend), "-abu", key)
		if err != nil {
			return nil, commandFailed("GPG failed", "Failed to run GPG", err, errs)
		}
		return out, nil
	}
	if key == "" {
		return nil, errors.New("Signing key required")
	}
	file, done, err := s.keyFile(key)
	if err != nil {
		return nil, err
	}
	defer done()
	out, errs, err := s.run(ctx, data, s.program("ssh"), "-Y", "sign", "-f", file, "-n", "git")
	if err != nil {
		return nil, commandFailed("SSH sign failed", "Failed to run ssh-keygen", err, errs)
	}
	return out, nil
}

// keyFile is the file of an ssh key: the one that is named, or one that holds
// the public key given in words.
func (s *signer) keyFile(key string) (path string, done func(), err error) {
	if path = s.home(key); filepath.IsAbs(path) {
		return path, func() {}, nil
	}
	return s.temp([]byte(key))
}

func (s *signer) home(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(s.e.io.getenv("HOME"), rest)
	}
	return path
}

func (s *signer) temp(data []byte) (path string, done func(), err error) {
	f, err := os.CreateTemp(s.e.tempDir(), "jj-signing-")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.Remove(f.Name()) }
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		done()
	}
	return f.Name(), done, err
}

func (s *signer) program(backend string) string {
	return s.e.conf.Str("signing.backends." + backend + ".program")
}

func (s *signer) run(ctx context.Context, input []byte, program string, args ...string) (out []byte, errs string, err error) {
	cmd := s.e.ui.command(ctx, program, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = s.e.io.Env, s.e.io.Dir, bytes.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	return out, strings.TrimRight(stderr.String(), " \r\n\t"), err
}

func commandFailed(what, cannot string, err error, errs string) error {
	if exit, ok := err.(*exec.ExitError); ok {
		return fmt.Errorf("%s with exit status: %d:\n%s", what, exit.ExitCode(), errs)
	}
	return chain{cannot, osCause(err)}
}

// chain is an error with its cause, told one after the other.
type chain struct {
	text  string
	cause error
}

// Error is the error without its cause.
func (e chain) Error() string { return e.text }

// Unwrap is its cause.
func (e chain) Unwrap() error { return e.cause }

func signError(err error) error { return chain{"Signing error", err} }

// verify checks a commit's signature with the program that its form names.
func (s *signer) verify(ctx context.Context, c *repo.Commit) (render.Verification, error) {
	if v, ok := s.checked[c.ID]; ok {
		return v, nil
	}
	sig := c.Signed.Sig
	var v render.Verification
	var err error
	switch {
	case bytes.HasPrefix(sig, []byte("-----BEGIN SSH SIGNATURE-----")):
		v, err = s.verifySSH(ctx, c.Signed.Data, sig)
	case bytes.HasPrefix(sig, []byte("-----BEGIN PGP SIGNATURE-----")):
		v, err = s.verifyGPG(ctx, "gpg", c.Signed.Data, sig)
	case bytes.HasPrefix(sig, []byte("-----BEGIN SIGNED MESSAGE-----")):
		v, err = s.verifyGPG(ctx, "gpgsm", c.Signed.Data, sig)
	}
	if errors.Is(err, render.ErrNoSignature) {
		err = nil // another program might have read it; none can
	}
	if err != nil {
		return v, signError(err)
	}
	if v.Status == "" {
		v = render.Verification{} // who it is from does not count then
	}
	s.checked[c.ID] = v
	return v, nil
}

func (s *signer) verifySSH(ctx context.Context, data, sig []byte) (v render.Verification, err error) {
	file, done, err := s.temp(sig)
	if err != nil {
		return v, err
	}
	defer done()
	program, signers := s.program("ssh"), s.home(s.e.conf.Str("signing.backends.ssh.allowed-signers"))
	who := ""
	if signers != "" {
		out, _, err := s.run(ctx, nil, program, "-Y", "find-principals", "-f", signers, "-s", file)
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			return v, chain{"Failed to run ssh-keygen", osCause(err)}
		}
		who, _, _ = strings.Cut(string(out), "\n")
		who = strings.TrimSpace(who)
	}
	if who == "" {
		_, _, err := s.run(ctx, data, program, "-Y", "check-novalidate", "-s", file, "-n", "git")
		if err != nil {
			return render.Verification{Status: "bad"}, nil
		}
		return v, nil
	}
	args := []string{"-Y", "verify", "-s", file, "-I", who, "-f", signers, "-n", "git"}
	if list := s.home(s.e.conf.Str("signing.backends.ssh.revocation-list")); list != "" {
		args = append(args, "-r", list)
	}
	out, _, err := s.run(ctx, data, program, args...)
	if err != nil {
		return render.Verification{Status: "bad", Display: who}, nil
	}
	words := strings.Fields(string(out))
	if len(words) < 2 {
		return v, errors.New("Failed to parse ssh program response")
	}
	return render.Verification{Status: "good", Key: words[len(words)-1], Display: who}, nil
}

func (s *signer) verifyGPG(ctx context.Context, backend string, data, sig []byte) (v render.Verification, err error) {
	file, done, err := s.temp(sig)
	if err != nil {
		return v, err
	}
	defer done()
	args, input := []string{"--keyid-format=long", "--status-fd=1", "--verify", file, "-"}, data
	if backend == "gpgsm" {
		signed, done, err := s.temp(data)
		if err != nil {
			return v, err
		}
		defer done()
		args, input = []string{"--status-fd=1", "--verify", file, signed}, nil
	}
	out, errs, err := s.run(ctx, input, s.program(backend), args...)
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return v, chain{"Failed to run GPG", osCause(err)}
	}
	expired, _ := s.e.conf.Bool("signing.backends." + backend + ".allow-expired-keys")
	v, known, told := gpgStatus(string(out), expired)
	switch {
	case known:
		return v, nil
	case told:
		return v, render.ErrNoSignature
	}
	return v, commandFailed("GPG failed", "Failed to run GPG", err, errs)
}

// gpgStatus reads the lines that gpg writes for programs; told is whether there
// were any beside that it failed.
func gpgStatus(out string, expiredIsGood bool) (v render.Verification, known, told bool) {
	for _, line := range strings.Split(out, "\n") {
		line, ok := strings.CutPrefix(line, "[GNUPG:] ")
		if !ok {
			continue
		}
		parts := strings.SplitN(line, " ", 3)
		told = told || parts[0] != "FAILURE"
		status := ""
		switch parts[0] {
		case "GOODSIG":
			status = "good"
		case "BADSIG":
			status = "bad"
		case "EXPKEYSIG":
			if status = "bad"; expiredIsGood {
				status = "good"
			}
		case "NO_PUBKEY":
		case "ERROR":
			if len(parts) < 2 || parts[1] != "verify.findkey" {
				continue
			}
			return v, true, true
		default:
			continue
		}
		v.Status = status
		if len(parts) > 1 {
			v.Key = strings.TrimSpace(parts[1])
		}
		if len(parts) > 2 {
			v.Display = strings.TrimSpace(parts[2])
		}
		return v, true, true
	}
	return v, false, told
}
