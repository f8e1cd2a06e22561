package red

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
)

// outsider is an MCP server of somebody else's that answers what a trial wants.
type outsider struct {
	url    string
	called atomic.Int64 // calls of a tool
	listed atomic.Int64 // questions for its tools
	sent   atomic.Int64 // bytes that were taken
	last   atomic.Pointer[http.Request]
}

// answers says what a method is answered; for other methods nil is a plain answer.
type answers func(method string, params json.RawMessage) (any, error)

// raw is an answer that writes itself.
type raw func(w http.ResponseWriter, id json.RawMessage, sent *atomic.Int64)

func (s *stage) outsider(say answers) *outsider {
	o := &outsider{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.last.Store(r)
		var in struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		switch in.Method {
		case "tools/call":
			o.called.Add(1)
		case "tools/list":
			o.listed.Add(1)
		}
		result, err := say(in.Method, in.Params)
		if write, ok := result.(raw); ok {
			write(w, in.ID, &o.sent)
			return
		}
		if result == nil && err == nil {
			result = plainly(in.Method)
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			json.NewEncoder(w).Encode(fields{"jsonrpc": "2.0", "id": in.ID, //nolint:errcheck // the trial will miss it
				"error": fields{"code": -32000, "message": err.Error()}})
			return
		}
		json.NewEncoder(w).Encode(fields{"jsonrpc": "2.0", "id": in.ID, "result": result}) //nolint:errcheck // the trial will miss it
	}))
	s.Cleanup(srv.Close)
	o.url = srv.URL
	return o
}

// plainly is what a server answers that means no harm.
func plainly(method string) any {
	switch method {
	case "initialize":
		return fields{"protocolVersion": "2025-06-18", "capabilities": fields{"tools": fields{}},
			"serverInfo": fields{"name": "o", "version": "1"}}
	case "tools/list":
		return fields{"tools": []fields{tooled("say", "says it")}}
	case "tools/call":
		return fields{"content": []fields{{"type": "text", "text": "said"}}}
	}
	return fields{}
}

func tooled(name, doc string) fields {
	return fields{"name": name, "description": doc, "inputSchema": fields{"type": "object"}}
}

// offers is a server with one tool of that name and description.
func offers(name, doc string) answers {
	return func(method string, _ json.RawMessage) (any, error) {
		if method == "tools/list" {
			return fields{"tools": []fields{tooled(name, doc)}}, nil
		}
		return nil, nil
	}
}

// endless writes an answer of that size around a beginning and an end.
func endless(before, after string, size int64) raw {
	return func(w http.ResponseWriter, id json.RawMessage, sent *atomic.Int64) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, before, id)
		chunk := make([]byte, 64<<10)
		for i := range chunk {
			chunk[i] = 'x'
		}
		for sent.Load() < size {
			n, err := w.Write(chunk)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
		fmt.Fprint(w, after)
	}
}
