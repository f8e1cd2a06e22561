package installation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/secret"
)

// Rotating the secrets sealed the database's address anew under the very key it was sealed under before.
func TestTheAddressIsSealedUnderANewKey(t *testing.T) {
	data := t.TempDir()
	keepers, err := secret.Keepers(data, "file")
	if err != nil {
		t.Fatal(err)
	}
	const dsn = "postgres://tandem:word@127.0.0.1/tandem"
	k := New(time.Now())
	if err := k.Settle(keepers, data, dsn); err != nil {
		t.Fatal(err)
	}
	if err := k.Write(data); err != nil {
		t.Fatal(err)
	}
	lines := func() string {
		raw, err := os.ReadFile(filepath.Join(data, "secret.key"))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for range 2 {
		before := lines()
		if err := k.Rekey(keepers, data, dsn); err != nil {
			t.Fatal(err)
		}
		after := lines()
		if strings.Count(after, "\n") != 1 || strings.Contains(after, strings.TrimSpace(before)) {
			t.Errorf("before %safter %s", before, after)
		}
		kept, err := Read(data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := kept.Address(keepers); got != dsn || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if err := kept.Settle(keepers, data, dsn); err != nil || kept.Database.Key != k.Database.Key {
			t.Errorf("settled again: %v", err)
		}
	}
}
