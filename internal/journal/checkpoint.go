package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"tandem/internal/fault"
)

// Checkpoint is what a signature vouches for: how many entries a journal has
// and the root of their tree (C2SP tlog-checkpoint).
type Checkpoint struct {
	Origin string
	Size   int64
	Root   Hash
}

func (c Checkpoint) body() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

func parseCheckpoint(body string) (Checkpoint, error) {
	lines := strings.SplitN(body, "\n", 4)
	if len(lines) < 4 || lines[0] == "" {
		return Checkpoint{}, fmt.Errorf("a checkpoint has three lines: origin, size and root")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, fmt.Errorf("%q is not the size of a tree", lines[1])
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != sha256.Size {
		return Checkpoint{}, fmt.Errorf("%q is not the root of a tree", lines[2])
	}
	return Checkpoint{Origin: lines[0], Size: size, Root: Hash(root)}, nil
}

// CheckAnchor says whether a text is a checkpoint at all, whoever signed it: a
// file that was mistaken for one says nothing about a journal.
func CheckAnchor(text string) error {
	body, _, signed := strings.Cut(text, "\n\n")
	_, err := parseCheckpoint(body + "\n")
	if err == nil && !signed {
		err = errors.New("it has no signature")
	}
	return err
}

// OpenCheckpoint checks the signature on a checkpoint with a journal's public
// key (origin+hash+key, as VerifierKey gives it) and reads it. It needs
// nothing else: no server, no database.
func OpenCheckpoint(text, verifierKey string) (Checkpoint, error) {
	v, err := note.NewVerifier(strings.TrimSpace(verifierKey))
	if err != nil {
		return Checkpoint{}, fault.New(fault.Invalid, "journal.open", "this is not a journal's public key: %v", err).
			WithNext("print the right one on the server: tandem audit anchor --json")
	}
	n, err := note.Open([]byte(strings.TrimSuffix(text, "\n")+"\n"), note.VerifierList(v))
	if err != nil {
		return Checkpoint{}, fault.New(fault.Invalid, "journal.open", "the checkpoint is not signed by %s: %v", v.Name(), err)
	}
	c, err := parseCheckpoint(n.Text)
	if err != nil {
		return c, fault.New(fault.Invalid, "journal.open", "%v", err)
	}
	if c.Origin != v.Name() {
		return c, fault.New(fault.Invalid, "journal.open", "the checkpoint is of %s and the key of %s", c.Origin, v.Name())
	}
	return c, nil
}

// signer signs notes in the name of one journal.
type signer struct {
	note.Verifier
	key ed25519.PrivateKey
}

func (s signer) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.key, msg), nil }

func verifierKey(origin string, key ed25519.PrivateKey) (string, error) {
	return note.NewEd25519VerifierKey(origin, key.Public().(ed25519.PublicKey))
}

func signCheckpoint(c Checkpoint, key ed25519.PrivateKey) (string, error) {
	vkey, err := verifierKey(c.Origin, key)
	if err != nil {
		return "", err
	}
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return "", err
	}
	text, err := note.Sign(&note.Note{Text: c.body()}, signer{v, key})
	return string(text), err
}
