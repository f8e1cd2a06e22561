// Package year runs a house for a year, in an hour (make soak ROOM=./test/year).
//
// A house begins as a data folder that an earlier release wrote. Agents on two other machines commit all the time; programs write keys; and
// every week something goes wrong, or is done as an operator does it: kills, full disks, copies and restores, rotations of keys, a clock
// that is set, a PostgreSQL that restarts or crashes, directly and behind PgBouncer. The program is built with a clock that a file moves:
// between two starts a week passes.
//
// At the end nothing that was acknowledged is missing, memory, files and disk are within bounds, and each failure was named where an
// operator looks: /ready, tandem doctor, the log, and what the refused caller was told.
package year
