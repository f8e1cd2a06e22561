package daemon

import (
	"maps"
	"testing"

	"tandem/internal/testenv"
)

// share is how much of a walk is made on PostgreSQL, but for soaks: every fifth operation, from one on that chance picks. What is walked
// are the doors and the gate, which are the same over both; what a query answers is not.
const share = 5

// onDatabases walks servers over each database: at are the settings of a new one. mine says which operations a walk takes.
func onDatabases(t *testing.T, walk func(t *testing.T, at func() map[string]string, mine func(i int) bool)) {
	t.Run("sqlite", func(t *testing.T) { walk(t, func() map[string]string { return nil }, func(int) bool { return true }) })
	t.Run("postgres", func(t *testing.T) {
		first := testenv.Random(t).IntN(share)
		at := func() map[string]string { return map[string]string{"database": testenv.Postgres(t)} }
		walk(t, at, func(i int) bool { return testenv.Soak() || i%share == first })
	})
}

// with are settings and further ones.
func with(at, more map[string]string) map[string]string {
	out := maps.Clone(more)
	maps.Copy(out, at)
	return out
}
