// Package screen is jj's two full-screen programs: a pager, and a picker in
// which people choose parts of changes or sides of conflicts.
//
// What they show and how keys change it is pure (Picker, Pager) and knows no
// terminal; Run and Page put them on one. A terminal is taken over while they
// run and given back as it was, whatever happens. They read keys from the
// terminal itself, so that standard input can be something else.
package screen
