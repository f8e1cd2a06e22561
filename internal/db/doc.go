// Package db is one SQL contract over SQLite and PostgreSQL: open, read, write
// in a transaction that carries its time, and run each room's migrations.
//
// Rooms write plain SQL with ? placeholders that both dialects accept; the
// few types that differ (BLOB, INTEGER PRIMARY KEY, WITHOUT ROWID) are translated when a migration runs. Times are
// stored as microseconds since 1970 UTC, truth values as 0 and 1.
//
// On SQLite one writer runs the transactions of all callers. Those that wait
// while the disk is syncing share the next sync (group commit), each inside a
// savepoint of its own, so one that fails takes nobody with it. Nothing is
// acknowledged before its sync.
package db
