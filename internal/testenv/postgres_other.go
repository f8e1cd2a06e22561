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

// PgBouncer has nothing to stand before: Postgres skipped the test.
func PgBouncer(t testing.TB, dsn, mode string) string {
	t.Helper()
	t.Skip("a private PostgreSQL is started on Unix only")
	return ""
}

// PgBouncerTLS has nothing to stand before: Postgres skipped the test.
func PgBouncerTLS(t testing.TB, dsn string) (address, ca string) {
	t.Helper()
	t.Skip("a private PostgreSQL is started on Unix only")
	return "", ""
}

// PgBouncerCert has nothing to stand before: Postgres skipped the test.
func PgBouncerCert(t testing.TB, dsn string) (address, folder string) {
	t.Helper()
	t.Skip("a private PostgreSQL is started on Unix only")
	return "", ""
}

// AsRole has no roles: Postgres skipped the test.
func AsRole(t testing.TB, dsn, options string) (string, string) {
	t.Helper()
	t.Skip("a private PostgreSQL is started on Unix only")
	return "", ""
}
