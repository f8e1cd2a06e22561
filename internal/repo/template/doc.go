// Package template is jj's template language: it parses a template, expands
// aliases, checks types, and builds a renderer that writes labelled text.
//
// The language knows its core types (strings, numbers, times, lists and so
// on). Whoever renders commits or operations adds types of their own through
// Type and Language. It reads nothing but what those give it.
package template
