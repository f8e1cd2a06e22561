package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// operation is the handler of one row.
func (s *Server) operation(o *op.Op) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !o.Public && !op.CallerFrom(r.Context()).Known() {
			s.refuseStranger(w, r, unknown(o.Name))
			return
		}
		in, err := readInput(o, r)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		out, err := s.Gate.Do(r.Context(), o, in)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		status := o.Status
		if status == 0 {
			status = http.StatusOK
		}
		writeJSON(w, status, out)
	})
}

// readInput puts body, query and path together; the path wins.
func readInput(o *op.Op, r *http.Request) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	data, ok := joined(o.Fields(), r, body)
	if !ok {
		if data, err = merged(o, r, body); err != nil {
			return nil, err
		}
	}
	return o.Decode(data)
}

// merged is the input as one object, whatever came from where.
func merged(o *op.Op, r *http.Request, body []byte) ([]byte, error) {
	fields, merged := o.Fields(), map[string]json.RawMessage{}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &merged); err != nil {
			return nil, fault.New(fault.Invalid, "http", "the body is not a JSON object: %w", err)
		}
	}
	if merged == nil { // the body is null
		merged = map[string]json.RawMessage{}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Invalid, o.Name, "the query is malformed: %w", err)
	}
	for name, values := range query {
		i := slices.IndexFunc(fields, func(f op.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, fault.New(fault.Invalid, o.Name, "there is no query parameter %q here", clip(name))
		}
		if merged[name], err = fromStrings(fields[i], values); err != nil {
			return nil, err
		}
	}
	for _, f := range fields {
		if v := r.PathValue(f.Name); v != "" {
			if merged[f.Name], err = fromStrings(f, []string{v}); err != nil {
				return nil, err
			}
		}
	}
	data, err := json.Marshal(merged)
	if err != nil {
		return nil, fault.New(fault.Invalid, o.Name, "the input is malformed: %w", err)
	}
	return data, nil
}

// joined puts the values of a path behind the members of a body, as text, so that the input is decoded once. It is not ok when it is
// not that plain: there is a query, a value is no text, the body is no object or may have a member of the same name.
func joined(fields []op.Field, r *http.Request, body []byte) (data []byte, ok bool) {
	body = bytes.TrimSpace(body)
	if r.URL.RawQuery != "" || len(body) > 0 && (body[0] != '{' || !json.Valid(body)) {
		return nil, false
	}
	data = append(data, '{')
	if len(body) > 0 {
		data = append(data, bytes.TrimSpace(body[1:len(body)-1])...)
	}
	for _, f := range fields {
		v := r.PathValue(f.Name)
		if v == "" {
			continue
		}
		if f.Type.Kind() != reflect.String || bytes.Contains(body, []byte(`"`+f.Name+`"`)) || bytes.Contains(body, []byte(`\u`)) {
			return nil, false
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, false
		}
		if len(data) > 1 {
			data = append(data, ',')
		}
		data = append(append(append(append(data, '"'), f.Name...), '"', ':'), text...)
	}
	return append(data, '}'), true
}

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.ContentLength == 0 {
		return nil, nil
	}
	data, err := io.ReadAll(r.Body)
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, fault.New(fault.Invalid, "http", "the request is larger than %d MiB", MaxBody>>20).With("status", "413")
	case err != nil:
		return nil, fault.New(fault.Invalid, "http", "the request broke off: %w", err)
	case len(data) == 0:
		return nil, nil
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" &&
		!strings.HasSuffix(t, "+json") {
		return nil, fault.New(fault.Invalid, "http", "the body must be JSON").With("status", "415").
			WithNext("send Content-Type: application/json")
	}
	return data, nil
}

// fromStrings reads a path or query value as the field's type.
func fromStrings(f op.Field, values []string) (json.RawMessage, error) {
	t := f.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	v := values[len(values)-1]
	bad := func(want string) error {
		return fault.New(fault.Invalid, "http", "%q should be %s, not %q", f.Name, want, clip(v))
	}
	switch t.Kind() {
	case reflect.String:
		return json.Marshal(v)
	case reflect.Bool:
		b, err := strconv.ParseBool(v)
		if err != nil {
			return nil, bad("true or false")
		}
		return json.Marshal(b)
	case reflect.Int, reflect.Int64, reflect.Int32:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, bad("a whole number")
		}
		return json.Marshal(n)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return json.Marshal(values)
		}
	}
	if !json.Valid([]byte(v)) {
		return nil, bad("JSON")
	}
	return json.RawMessage(v), nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = 500, []byte(`{"error":"internal error","code":"internal"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)+1))
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}

// Problem is a fault on the wire.
type Problem struct {
	Error     string            `json:"error"`
	Code      string            `json:"code"`
	Op        string            `json:"op,omitempty"`
	Next      string            `json:"next,omitempty"`
	Retryable bool              `json:"retryable"`
	Data      map[string]string `json:"data,omitempty"`
	Request   string            `json:"request,omitempty"`
}

// Fail is the one place where a fault becomes a status.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.Public(err)
	if f.Kind == fault.Internal { // a route of its own may have met a database that is away
		f = fault.Public(s.Gate.Explain(err))
	}
	if s.Failed != nil {
		s.Failed(f.Kind)
	}
	request := w.Header().Get("Tandem-Request")
	if f.Kind == fault.Internal {
		s.Log.Error("request failed", "request", request, "method", r.Method, "path", r.Pattern, "err", err)
	}
	status := f.Kind.Status()
	if n, err := strconv.Atoi(f.Data["status"]); err == nil {
		status = n
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="tandem"`)
	}
	writeJSON(w, status, Problem{f.Msg, f.Kind.String(), f.Op, f.Next, f.Kind == fault.Unavailable || f.Kind == fault.Exhausted, f.Data,
		request})
}

// byName runs any operation by its name: what tandem's own clients use.
func (s *Server) byName(w http.ResponseWriter, r *http.Request) {
	o := s.Gate.Table().Get(r.PathValue("operation"))
	if !op.CallerFrom(r.Context()).Known() {
		s.refuseStranger(w, r, unknown("op"))
		return
	}
	if o == nil || o.Class == op.ClassStream {
		s.Fail(w, r, fault.New(fault.NotFound, "op", "there is no operation %q", clip(r.PathValue("operation"))))
		return
	}
	s.operation(o).ServeHTTP(w, r)
}
