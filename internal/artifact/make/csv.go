package make

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/artifact/check"
)

// csvOf makes CSV from a table, or from a list of objects whose fields become columns.
func csvOf(v any) ([]byte, error) {
	t, err := tableOf(v)
	if err != nil {
		return nil, err
	}
	var wrong []error
	t.check(func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) })
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	var b bytes.Buffer
	line := func(values []any) {
		for i, v := range values {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoted(cell(v)))
		}
		b.WriteString("\n")
	}
	head := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c
	}
	for _, row := range append([][]any{head}, t.Rows...) {
		line(row)
	}
	return b.Bytes(), nil
}

// quoted is a cell in quotes where it needs them. No spreadsheet reads it as a formula, nor any part of it where other signs part cells; a
// number stays one.
func quoted(s string) string {
	var b strings.Builder
	for s != "" {
		end := strings.IndexAny(s, ";|\t\r\n") + 1
		if end == 0 {
			end = len(s)
		}
		if check.Formula(strings.TrimRight(s[:end], ";|\r\n")) {
			b.WriteByte('\'')
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	if s = b.String(); strings.ContainsAny(s, ",;|\t\r\n\"") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

func tableOf(v any) (*Table, error) {
	if s, ok := v.(string); ok {
		var read any
		if err := json.Unmarshal([]byte(s), &read); err != nil {
			return nil, fmt.Errorf("it is no table: %w", err)
		}
		v = read
	}
	if list, ok := v.([]any); ok {
		return ofObjects(list)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var t Table
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return nil, fmt.Errorf("it is no table with columns and rows, and no list of objects: %w", err)
	}
	return &t, nil
}

func ofObjects(list []any) (*Table, error) {
	names := map[string]bool{}
	for i, one := range list {
		o, ok := one.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("item %d of the list is no object", i+1)
		}
		for name := range o {
			names[name] = true
		}
	}
	t := &Table{Columns: slices.Sorted(maps.Keys(names))}
	for _, one := range list {
		row := make([]any, len(t.Columns))
		for i, name := range t.Columns {
			row[i] = one.(map[string]any)[name]
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
