package freeze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// wide is how long a line of JSON may be before it is broken into several.
const wide = 120

// Lay is JSON with sorted keys, broken into lines only where a value is long: small differences stay small.
func Lay(v any) string {
	data, err := json.Marshal(v) // through JSON, so that structs and maps look alike
	if err != nil {
		panic(fmt.Sprintf("lay out %T: %v", v, err))
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		panic(fmt.Sprintf("lay out %T: %v", v, err))
	}
	var b strings.Builder
	lay(&b, plain, "")
	b.WriteByte('\n')
	return b.String()
}

func lay(b *strings.Builder, v any, indent string) {
	line := compact(v)
	object, isObject := v.(map[string]any)
	list, isList := v.([]any)
	if len(indent)+len(line) <= wide || !isObject && !isList {
		b.WriteString(line)
		return
	}
	inner := indent + " "
	if isObject {
		b.WriteString("{\n")
		for i, k := range sorted(object) {
			fmt.Fprintf(b, "%s%s: ", inner, compact(k))
			lay(b, object[k], inner)
			b.WriteString(comma(i, len(object)))
		}
		b.WriteString(indent + "}")
		return
	}
	b.WriteString("[\n")
	for i, e := range list {
		b.WriteString(inner)
		lay(b, e, inner)
		b.WriteString(comma(i, len(list)))
	}
	b.WriteString(indent + "]")
}

func comma(i, n int) string {
	if i < n-1 {
		return ",\n"
	}
	return "\n"
}

func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("lay out %T: %v", v, err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
