// Package owner keeps one row for each daemon that works with a database: where it runs, since when, and until when it may be taken
// for alive. A server is living, or it has ended; it never lives again, a new start is a new row with a higher fence.
//
// A start claims the database: it ends the rows of servers that are dead for certain, or whose lease has ended, and is refused while
// another one lives. What an ended server still writes is refused by the database itself (db.Fence): it may only have slept.
package owner
