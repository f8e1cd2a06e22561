//go:build novectors

package vector

// Builtin is the table that is part of the program, nil in one that was built without.
func Builtin() *Table { return nil }
