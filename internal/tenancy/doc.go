// Package tenancy knows what a tenant has in the database and in the data folder: it counts and weighs that, carries it to another server,
// takes it in from there, and erases it. Whose a tenant is and what may be done with it is identity's.
//
// A file of a tenant may be by anybody: it is read, checked and ended in a database of its own, and then all of it is here or none of it.
// An erasure goes on after a crash where it stood.
package tenancy
