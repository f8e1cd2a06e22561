package daemon

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// byDevice is the person whose machine elsewhere signed this very request: they are present for this one call. What is signed is the
// body alone, so nothing else may say what is to be done.
func byDevice(r *http.Request, who *identity.Room, terminal op.Caller, header string) (op.Caller, error) {
	name, ok := strings.CutPrefix(r.URL.Path, "/op/")
	if !ok || r.Method != http.MethodPost || r.URL.RawQuery != "" || strings.Contains(name, "/") {
		return op.Caller{}, fault.New(fault.Invalid, "presence", "a device answers for one operation by its name, with nothing beside its input")
	}
	p, err := identity.ParseProof(header)
	if err != nil {
		return op.Caller{}, err
	}
	if p.Operation = name; r.Body != nil {
		if p.Input, err = io.ReadAll(r.Body); err != nil {
			return op.Caller{}, fault.New(fault.Invalid, "presence", "the request is too large, or broke off: %w", err)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(p.Input))
	return who.ProveDevice(r.Context(), terminal, p)
}
