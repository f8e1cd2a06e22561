// Package pattern matches names and times the way jj's languages do: exact,
// substring, glob and regular-expression string patterns, their combinations,
// and dates given in words.
package pattern
