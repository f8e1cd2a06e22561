// Package builtin holds the tools that every session has, one file of code and one page of documentation each. The page
// is what the model reads.
package builtin

import (
	"encoding/json"
	"net/http"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"tandem/internal/op"
	"tandem/internal/tool"
)

// All makes the built-in tools. pages carries what webfetch reads; search says how websearch searches now, which is offered only
// while something is configured.
func All(pages http.RoundTripper, search func() Search) []tool.Tool {
	return []tool.Tool{read{}, write{}, edit{}, applyPatch{}, list{}, glob{}, grep{}, bash{}, todo{}, question{}, task{}, own{},
		webfetch{pages}, websearch{search}}
}

var schemas sync.Map // type of arguments → its schema

// schemaOf is the JSON Schema of a tool's arguments, made once. The types are constants of the program, so it cannot fail at run
// time without failing in every test.
func schemaOf[T any]() json.RawMessage {
	typ := reflect.TypeFor[T]()
	if s, ok := schemas.Load(typ); ok {
		return s.(json.RawMessage)
	}
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err)
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	schemas.Store(typ, json.RawMessage(b))
	return b
}

func folder(p tool.Place) op.Resource {
	return op.Resource{Kind: "folder", Path: tool.Slashed(p.Path)}
}

func touches(name string, p tool.Place) op.Touch {
	return op.Touch{Tool: name, Paths: []string{tool.Slashed(p.Path)}}
}
