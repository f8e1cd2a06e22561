package db

import (
	"strings"
	"testing"

	"tandem/internal/fault"
)

// A server that is not there is tried with TLS and without; people read once that it refused.
func TestAnAbsentPostgreSQLIsToldOnce(t *testing.T) {
	_, err := Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", nil)
	if !fault.Is(err, fault.Unavailable) {
		t.Fatalf("opening gave %v", err)
	}
	if n := strings.Count(err.Error(), "connection refused"); n != 1 {
		t.Errorf("it is said %d times that nobody listens: %v", n, err)
	}
}
