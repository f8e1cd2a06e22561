// Package metric counts, and writes what it counted in Prometheus' text format (version 0.0.4). It knows numbers and labels, and
// nothing of who or what they are about: whoever counts gives labels whose values are words of the program, never of a tenant.
package metric
