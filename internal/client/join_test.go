package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// Somebody who gave up waiting, and asks again, is the one whom a person may have let in meanwhile.
func TestAnInterruptedRequestToJoinGoesOn(t *testing.T) {
	var nonces []string
	approved := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Nonce string }
		if r.URL.Path != "/join" || json.NewDecoder(r.Body).Decode(&in) != nil {
			http.NotFound(w, r)
			return
		}
		nonces = append(nonces, in.Nonce)
		if !approved {
			w.WriteHeader(http.StatusAccepted)
			w.Write([]byte(`{"error":"join.enter waits for an approval","code":"pending"}`))
			return
		}
		w.WriteHeader(http.StatusCreated)
		w.Write([]byte(`{"actor":"laptop","secret":"tdm_x"}`))
	}))
	defer server.Close()
	pins := OpenPins(filepath.Join(t.TempDir(), "known_servers"))
	a := Address{Host: strings.TrimPrefix(server.URL, "http://"), Local: true}
	interrupted := func() {
		ctx, interrupt := context.WithCancel(t.Context())
		if _, err := Join(ctx, a, pins, "laptop", func(Asking) { interrupt() }); !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted: %v", err)
		}
	}
	interrupted()
	interrupted()
	approved = true
	if got, err := Join(t.Context(), a, pins, "laptop", nil); err != nil || got.Secret != "tdm_x" {
		t.Fatalf("%+v, %v", got, err)
	}
	if nonces[0] == "" || nonces[1] != nonces[0] || nonces[2] != nonces[0] {
		t.Errorf("three requests: %v", nonces)
	}
	if _, err := Join(t.Context(), a, pins, "laptop", nil); err != nil || nonces[3] == nonces[0] {
		t.Errorf("a request that was answered was made again: %v, %v", nonces, err)
	}
}
