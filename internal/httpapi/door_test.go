package httpapi

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/gate/doortest"
	"tandem/internal/op"
)

// served is a listener whose callers are who the test says.
func served(h *doortest.House, who *op.Caller) http.Handler {
	s := &Server{Gate: h.Gate, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	return s.Handler(func(*http.Request) (op.Caller, error) { return *who, nil }, nil)
}

func send(t *testing.T, h http.Handler, method, target, body, key string) doortest.Answer {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	data, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	if w.Code == http.StatusOK {
		return doortest.Answer{Out: data, Said: string(data)}
	}
	var p Problem
	if err := json.Unmarshal(data, &p); err != nil || fault.Parse(p.Code).Status() != w.Code {
		t.Errorf("%s %s: status %d with %s", method, target, w.Code, data)
	}
	return doortest.Answer{Failed: true, Kind: fault.Parse(p.Code), Said: string(data)}
}

// Two ways into the HTTP door: a route of its own for each operation, and one for all by name.
func TestTheDoorByRoute(t *testing.T) {
	doortest.Run(t, func(t *testing.T, house *doortest.House) doortest.Door {
		var caller op.Caller
		h := served(house, &caller)
		return doortest.Door{
			Call: func(t *testing.T, who op.Caller, name, input, key string) doortest.Answer {
				caller = who
				target := "/" + strings.ReplaceAll(name, ".", "/")
				o := house.Gate.Table().Get(name)
				if o == nil || o.Method != "GET" {
					return send(t, h, "POST", target, input, key)
				}
				var in map[string]string
				if err := json.Unmarshal([]byte(input), &in); err != nil {
					t.Fatal(err)
				}
				query := url.Values{}
				for k, v := range in {
					query.Set(k, v)
				}
				return send(t, h, "GET", target+"?"+query.Encode(), "", key)
			},
			Offers: func(t *testing.T, who op.Caller) map[string]bool {
				caller = who
				var doc struct {
					Paths map[string]map[string]struct {
						ID      string `json:"operationId"`
						Changes bool   `json:"x-tandem-changes"`
					}
				}
				if err := json.Unmarshal(send(t, h, "GET", "/openapi.json", "", "").Out, &doc); err != nil {
					t.Fatal(err)
				}
				offers := map[string]bool{}
				for _, methods := range doc.Paths {
					for _, item := range methods {
						offers[item.ID] = item.Changes
					}
				}
				return offers
			}}
	})
}

func TestTheDoorByName(t *testing.T) {
	doortest.Run(t, func(t *testing.T, house *doortest.House) doortest.Door {
		var caller op.Caller
		h := served(house, &caller)
		return doortest.Door{Call: func(t *testing.T, who op.Caller, name, input, key string) doortest.Answer {
			caller = who
			return send(t, h, "POST", "/op/"+name, input, key)
		}}
	})
}

// While the database was away, anybody with an invented token was told its host, port, role and name.
func TestAStrangerIsNotToldWhereTheDatabaseIs(t *testing.T) {
	s := &Server{Gate: doortest.NewHouse(t).Gate, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	away := fault.New(fault.Unavailable, "db", "PostgreSQL cannot be reached: user=tandem host=db.internal")
	h := s.Handler(func(*http.Request) (op.Caller, error) { return op.Caller{}, away },
		func(*http.Request) bool { return true })
	if a := send(t, h, "POST", "/thing/write", `{"name":"a"}`, ""); a.Kind != fault.Unavailable || strings.Contains(a.Said, "db.internal") {
		t.Errorf("%+v", a)
	}
}
