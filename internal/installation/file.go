package installation

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/wholefile"
)

// Format names the form of installation.json.
const Format = "tandem.installation/v1"

// Kept is what a data folder knows of its installation.
type Kept struct {
	Format   string    `json:"format"`
	ID       string    `json:"id"`
	Made     time.Time `json:"made"`
	Database Database  `json:"database"`
	Repos    []string  `json:"repos,omitempty"`   // served at every start
	Panel    string    `json:"panel,omitempty"`   // the panel's own name in a browser, which nobody guesses
	Cluster  string    `json:"cluster,omitempty"` // what its servers say to work together; "" for one alone
	Mode     string    `json:"mode,omitempty"`    // whom requests were for when it was last served
	Ring     string    `json:"ring,omitempty"`    // the digest of the key ring whose assertions were taken then
	Home     string    `json:"home,omitempty"`    // which of the cluster's folders this is; "" for the one that the keys came from
}

// Database is where the installation's rows are.
type Database struct {
	Shown  string `json:"shown"`            // for people: without a password
	Sealed []byte `json:"sealed,omitempty"` // the whole address; empty for the file in the data folder
	Key    string `json:"key,omitempty"`    // the id of the key that it is sealed under; "" for the installation's own
	Move   string `json:"move,omitempty"`   // the number of the move by which the rows came there
}

// New is an installation that never was before.
func New(now time.Time) *Kept {
	return &Kept{Format: Format, ID: id.New("ins"), Made: now}
}

// NamePanel gives the panel a name of its own, once. A browser sends a cookie to every port of a name: under one that is the same
// everywhere, any page on this machine would be sent it.
func (k *Kept) NamePanel() {
	if k.Panel == "" {
		k.Panel = "t-" + strings.ToLower(rand.Text()[:16]) + ".localhost"
	}
}

func file(data string) string { return filepath.Join(data, "installation.json") }

// Read reads what the data folder knows, nil when it knows nothing.
func Read(data string) (*Kept, error) {
	raw, err := os.ReadFile(file(data))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "installation", "cannot read %s: %w", file(data), err).
			WithNext("check its owner and its disk: tandem doctor")
	}
	var k Kept
	if err := json.Unmarshal(raw, &k); err != nil || k.Format != Format || id.Check("ins", k.ID) != nil {
		return nil, fault.New(fault.Unavailable, "installation", "%s is damaged, or of a newer program", file(data)).
			WithNext("put it back from a copy of the folder, or move it away and start with --database where the data is in PostgreSQL")
	}
	return &k, nil
}

// Write keeps it with the data folder.
func (k *Kept) Write(data string) error {
	raw, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := wholefile.Write(file(data), append(raw, '\n')); err != nil {
		return fmt.Errorf("keep the installation's identity: %w", err)
	}
	return nil
}
