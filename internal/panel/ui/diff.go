package ui

import (
	"strconv"

	"tandem/internal/unified"
)

func lineClass(l unified.Line) string {
	switch l.Op {
	case '+':
		return "add"
	case '-':
		return "del"
	case '@':
		return "gap"
	}
	return "same"
}

// half is the class of one side of a row.
func half(l unified.Line) string {
	if l.Op == 0 {
		return "none"
	}
	return lineClass(l)
}

func lineSaid(l unified.Line) string {
	switch l.Op {
	case '+':
		return "added: "
	case '-':
		return "removed: "
	}
	return ""
}

func lineNo(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
