// Package device is the key with which a person's machine answers for them at a server elsewhere. The key signs one act at a time: this
// server, this person, this operation with exactly these bytes, under a nonce that the server gave. At rest it is sealed under the
// person's PIN, which never leaves their machine; who has every file of it and no PIN can answer nothing. The server knows the public
// half and checks each signature itself. It is pure: who keeps the sealed key, counts wrong PINs and hands out nonces is elsewhere.
package device

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// What opening a sealed key costs: 64 MiB and three passes. A PIN is short, and whoever copied the files guesses without being counted.
const (
	passes  = 3
	memory  = 64 << 10 // KiB
	threads = 1
)

// What a file may ask for: one that somebody changed must not take the machine's memory.
const maxPasses, maxMemory, maxThreads = 16, 1 << 20, 16

// ErrPIN means that the PIN is wrong, or that the sealed key is of another person, server or device.
var ErrPIN = errors.New("the PIN is wrong")

// Of is whose key it is.
type Of struct {
	Server string `json:"server" jsonschema:"the server's identity, whatever its address is"`
	Person string `json:"person"`
	Device string `json:"device" jsonschema:"its id at the server"`
}

// Sealed is a private key under a PIN, with what it takes to open it.
type Sealed struct {
	Passes  uint32 `json:"passes"`
	Memory  uint32 `json:"memory_kib"`
	Threads uint8  `json:"threads"`
	Salt    []byte `json:"salt"`
	Nonce   []byte `json:"nonce"`
	Box     []byte `json:"box"`
}

// MinPIN is the least number of characters of a PIN that seals a key: whoever copied the files guesses without being counted.
const MinPIN = 8

// CheckPIN refuses PINs that are too easy to guess.
func CheckPIN(pin string) error {
	if utf8.RuneCountInString(pin) < MinPIN {
		return fmt.Errorf("a PIN for a server elsewhere has at least %d characters: "+
			"who copies this machine's files guesses without being counted",
			MinPIN)
	}
	if strings.Trim(pin, pin[:1]) == "" {
		return errors.New("a PIN of one repeated character is no PIN")
	}
	return nil
}

// Make makes a key. The public half is what the server is told; the other is sealed as soon as the server said whose it is, and wiped.
func Make() (ed25519.PublicKey, ed25519.PrivateKey, error) { return ed25519.GenerateKey(nil) }

// Seal closes a key under a PIN.
func Seal(of Of, pin string, private ed25519.PrivateKey) (Sealed, error) {
	s := Sealed{Passes: passes, Memory: memory, Threads: threads, Salt: make([]byte, 16), Nonce: make([]byte, 12)}
	rand.Read(s.Salt)
	rand.Read(s.Nonce)
	box, err := s.cipher(pin)
	if err != nil {
		return Sealed{}, err
	}
	seed := private.Seed()
	defer clear(seed)
	s.Box = box.Seal(nil, s.Nonce, seed, of.bytes())
	return s, nil
}

func (s Sealed) cipher(pin string) (cipher.AEAD, error) {
	if s.Passes == 0 || s.Passes > maxPasses || s.Memory > maxMemory || s.Threads == 0 || s.Threads > maxThreads || len(s.Nonce) != 12 {
		return nil, fmt.Errorf("the sealed key asks for %d passes over %d KiB in %d threads", s.Passes, s.Memory, s.Threads)
	}
	key := argon2.IDKey([]byte(pin), s.Salt, s.Passes, s.Memory, s.Threads, 32)
	defer clear(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Open is the private key; whoever opens it wipes it.
func (s Sealed) Open(of Of, pin string) (ed25519.PrivateKey, error) {
	box, err := s.cipher(pin)
	if err != nil {
		return nil, err
	}
	seed, err := box.Open(nil, s.Nonce, s.Box, of.bytes())
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, ErrPIN
	}
	defer clear(seed)
	return ed25519.NewKeyFromSeed(seed), nil
}

// Change seals the same key under another PIN.
func (s Sealed) Change(of Of, old, pin string) (Sealed, error) {
	private, err := s.Open(of, old)
	if err != nil {
		return Sealed{}, err
	}
	defer clear(private)
	return Seal(of, pin, private)
}

// bytes name whose key it is; %q keeps one field from passing for two.
func (of Of) bytes() []byte {
	return fmt.Appendf(nil, "tandem device key v1\n%q\n%q\n%q\n", of.Server, of.Person, of.Device)
}

// Act is what a key answers for: one operation with one input, once.
type Act struct {
	Of
	Operation string
	Nonce     string // of the server, good once
	Input     []byte // the very bytes that are sent
}

// bytes are what is signed.
func (a Act) bytes() []byte {
	sum := sha256.Sum256(a.Input)
	return fmt.Appendf(nil, "tandem device act v1\n%q\n%q\n%q\n%q\n%q\n%s\n", a.Server, a.Person, a.Device, a.Operation, a.Nonce,
		hex.EncodeToString(sum[:]))
}

// Sign opens the key for this one act.
func (s Sealed) Sign(a Act, pin string) ([]byte, error) {
	private, err := s.Open(a.Of, pin)
	if err != nil {
		return nil, err
	}
	defer clear(private)
	return ed25519.Sign(private, a.bytes()), nil
}

// Signed reports whether the key of a person's device signed this very act.
func (a Act) Signed(public ed25519.PublicKey, signature []byte) bool {
	return len(public) == ed25519.PublicKeySize && ed25519.Verify(public, a.bytes(), signature)
}
