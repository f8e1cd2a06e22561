package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// field puts a value out of a JSON file into a variable: field CODE created.json code,
// field T1 plan.json tasks.0.id.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: field VARIABLE FILE PATH")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[1])), &v); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[1], err)
	}
	for _, part := range strings.Split(args[2], ".") {
		switch node := v.(type) {
		case map[string]any:
			v = node[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(node) {
				ts.Fatalf("%s: there is no element %s", args[1], part)
			}
			v = node[i]
		default:
			ts.Fatalf("%s: there is nothing at %s", args[1], args[2])
		}
	}
	if v == nil {
		ts.Fatalf("%s: there is nothing at %s", args[1], args[2])
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}
