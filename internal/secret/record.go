package secret

import (
	"encoding/json"
	"errors"
	"strings"

	"tandem/internal/fault"
)

// Record is a redactor for what one actor leaves behind: events, errors, stored answers. It strikes what everybody's record is
// kept clean of, and what this actor stored or was lent. What somebody else stored without a person present is not struck, or
// whoever may store a secret could blank the record of others.
type Record struct {
	redact    *Redactor
	place, of string
}

// For is the redactor of one actor's record, in whichever tenant.
func (r *Redactor) For(actor string) Record { return Record{redact: r, of: actor} }

// In is the redactor of one actor's record in a tenant: two tenants may call theirs alike.
func (r *Redactor) In(tenant, actor string) Record { return Record{r, tenant, actor} }

// String is s without secrets.
func (r Record) String(s string) string {
	if r.redact == nil || r.redact.ours(s) {
		return s
	}
	out, _ := r.redact.cut(s, len(s), r.place, r.of)
	return out
}

func (r *Redactor) ours(s string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.words[s]
}

// JSON is a document without secrets. Only string values are looked at: names of fields, numbers and the marks of JSON itself
// stay byte for byte, so no value that somebody stores can take a document apart.
func (r Record) JSON(doc json.RawMessage) json.RawMessage {
	var out []byte // nil as long as nothing was struck
	done := 0
	for i := 0; i < len(doc); {
		if doc[i] != '"' {
			i++
			continue
		}
		end := literal(doc, i)
		if isName(doc, end) {
			i = end
			continue
		}
		var s string
		if json.Unmarshal(doc[i:end], &s) == nil {
			if clean := r.String(s); clean != s {
				text, err := json.Marshal(clean)
				if err == nil {
					out = append(append(out, doc[done:i]...), text...)
					done = end
				}
			}
		}
		i = end
	}
	if out == nil {
		return doc
	}
	return append(out, doc[done:]...)
}

// literal is where the string that begins at i ends.
func literal(doc []byte, i int) int {
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// isName tells whether the string that ended at i names a field.
func isName(doc []byte, i int) bool {
	for ; i < len(doc); i++ {
		switch doc[i] {
		case ' ', '\t', '\n', '\r':
		default:
			return doc[i] == ':'
		}
	}
	return false
}

// Error is err without secrets. A fault keeps its kind, a cause can still be
// asked for with errors.Is, and nothing of the original text is reachable.
func (r Record) Error(err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	isFault := errors.As(err, &f)
	if all := strings.Join(texts(err), "\n"); r.String(all) == all {
		return err
	}
	hidden := redactedError{r.String(err.Error()), err}
	if !isFault {
		return hidden
	}
	clean := &fault.Error{Kind: f.Kind, Op: f.Op, Msg: hidden.text, Next: r.String(f.Next), Err: hidden}
	for k, v := range f.Data {
		clean.With(r.String(k), r.String(v))
	}
	return clean
}

// texts are all that an error and its causes would say.
func texts(err error) []string {
	if err == nil {
		return nil
	}
	out := []string{err.Error()}
	switch e := err.(type) {
	case *fault.Error:
		out = append(out, e.Next)
		for k, v := range e.Data {
			out = append(out, k, v)
		}
		out = append(out, texts(e.Err)...)
	case interface{ Unwrap() error }:
		out = append(out, texts(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			out = append(out, texts(x)...)
		}
	}
	return out
}

// redactedError hides an error's text and keeps its identity.
type redactedError struct {
	text string
	err  error
}

func (e redactedError) Error() string        { return e.text }
func (e redactedError) Is(target error) bool { return errors.Is(e.err, target) }
