package repo

import (
	"strings"
	"testing"
)

func TestAlone(t *testing.T) {
	for line, want := range map[string]bool{
		"commit -m x":              true,
		"ci --message x":           true,
		"describe -mx":             true,
		"new":                      true,
		"new --message=x":          true,
		"new --quiet -m new":       true,
		"new main":                 false,
		"new -m x main":            false,
		"new -A main":              false,
		"describe -r abc -m x":     false,
		"describe abc -m x":        false,
		"commit file -m x":         false,
		"commit --config a=b -m x": false,
		"log":                      false,
		"st":                       false,
		"squash":                   false,
		"":                         false,
	} {
		if got := alone(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
