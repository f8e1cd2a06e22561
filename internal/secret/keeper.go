package secret

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"

	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// Keeper holds master keys by id, outside the database.
type Keeper interface {
	Name() string // "keyring" or "file", as it is stored and shown
	Load(id string) ([]byte, error)
	Store(id string, key []byte) error
	Delete(id string) error
}

var errNoKey = errors.New("the keeper does not have this key")

// Keepers are the places for master keys in the order of preference. mode is
// "keyring", "file" or "auto": the keyring where a session has one, else the
// file. A key is always looked for where it was put.
func Keepers(folder, mode string) ([]Keeper, error) {
	file, ring := &fileKeeper{path: filepath.Join(folder, "secret.key")}, ringKeeper{}
	switch mode {
	case "file":
		return []Keeper{file, ring}, nil
	case "keyring":
		return []Keeper{ring, file}, nil
	case "", "auto":
		if runtime.GOOS == "darwin" || runtime.GOOS == "windows" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
			return []Keeper{ring, file}, nil
		}
		return []Keeper{file, ring}, nil
	}
	return nil, fault.New(fault.Invalid, "secret.keeper", "%q is not a keeper of keys", mode).WithNext("use auto, keyring or file")
}

// ringKeeper is the operating system's keyring.
type ringKeeper struct{}

const ringService = "tandem"

// ringPatience bounds a call to the keyring, which may wait for a person to
// unlock it.
const ringPatience = 5 * time.Second

func (ringKeeper) Name() string { return "keyring" }

func (ringKeeper) Load(id string) ([]byte, error) {
	var text string
	err := patiently(func() (err error) { text, err = keyring.Get(ringService, id); return err })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, errNoKey
	}
	if err != nil {
		return nil, err
	}
	return decodeKey(text)
}

func (ringKeeper) Store(id string, key []byte) error {
	return patiently(func() error { return keyring.Set(ringService, id, base64.StdEncoding.EncodeToString(key)) })
}

func (ringKeeper) Delete(id string) error {
	err := patiently(func() error { return keyring.Delete(ringService, id) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

func patiently(call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-time.After(ringPatience):
		return fmt.Errorf("the keyring did not answer within %s", ringPatience)
	}
}

// fileKeeper is a file of mode 0600: a key a line, its id before it.
type fileKeeper struct {
	path string
	mu   sync.Mutex
}

func (*fileKeeper) Name() string { return "file" }

func (f *fileKeeper) read() (map[string]string, error) {
	keys := map[string]string{}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return keys, nil
	}
	if err != nil {
		return nil, err
	}
	if err := private(f.path); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if id, key, ok := strings.Cut(lines.Text(), " "); ok {
			keys[id] = key
		}
	}
	return keys, nil
}

func (f *fileKeeper) Load(id string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys, err := f.read()
	if err != nil {
		return nil, err
	}
	text, ok := keys[id]
	if !ok {
		return nil, errNoKey
	}
	return decodeKey(text)
}

func (f *fileKeeper) Store(id string, key []byte) error {
	return f.change(func(keys map[string]string) { keys[id] = base64.StdEncoding.EncodeToString(key) })
}

func (f *fileKeeper) Delete(id string) error {
	return f.change(func(keys map[string]string) { delete(keys, id) })
}

// change rewrites the file.
func (f *fileKeeper) change(edit func(map[string]string)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys, err := f.read()
	if err != nil {
		return err
	}
	edit(keys)
	var text bytes.Buffer
	for id, key := range keys {
		fmt.Fprintf(&text, "%s %s\n", id, key)
	}
	return wholefile.Write(f.path, text.Bytes())
}

func decodeKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("the keeper holds something that is not a key")
	}
	return key, nil
}
