//go:build !unix

package testenv

import "testing"

// Postgres skips the test: a private cluster is started on Unix only.
func Postgres(t testing.TB) string {
	t.Helper()
	t.Skip("a private PostgreSQL is started on Unix only")
	return ""
}

// CutPostgres has nothing to cut: Postgres skipped the test.
func CutPostgres(t testing.TB, dsn string) {
	t.Helper()
	t.Skip("a private PostgreSQL is started on Unix only")
}
