package config

import (
	"encoding/json"
	"slices"
)

// Schema describes the settings that have a default as a JSON schema: their
// types and defaults. Tables whose names are the user's own take any name.
func Schema() (string, error) {
	root, err := defaults()
	if err != nil {
		return "", err
	}
	s := schemaOf(root)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "Settings of jj"
	out, err := json.MarshalIndent(s, "", "  ")
	return string(out), err
}

// ownNames are the tables in which people make up names.
var ownNames = map[string]bool{
	"aliases": true, "revset-aliases": true, "template-aliases": true, "fileset-aliases": true, "templates": true, "colors": true,
	"merge-tools": true, "remotes": true, "fix": true,
}

func schemaOf(t *Table) map[string]any {
	props := map[string]any{}
	for _, k := range t.Keys {
		v := t.M[k]
		if sub, ok := v.V.(*Table); ok {
			s := schemaOf(sub)
			s["additionalProperties"] = ownNames[k]
			props[k] = s
			continue
		}
		props[k] = map[string]any{"type": schemaType(v.V), "default": v.Plain()}
	}
	return map[string]any{"type": "object", "properties": props}
}

func schemaType(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	case []*Value:
		return "array"
	}
	return "string"
}

// Names lists the settings that have a default, by their dotted names, and with
// tables also the tables they are in.
func Names(tables bool) []string {
	root, err := defaults()
	if err != nil {
		return nil
	}
	var out []string
	var walk func(prefix string, t *Table)
	walk = func(prefix string, t *Table) {
		for _, k := range t.Keys {
			name := prefix + FormatKey(k)
			sub, ok := t.M[k].V.(*Table)
			if !ok || tables {
				out = append(out, name)
			}
			if ok && !ownNames[k] {
				walk(name+".", sub)
			}
		}
	}
	walk("", root)
	slices.Sort(out)
	return out
}
