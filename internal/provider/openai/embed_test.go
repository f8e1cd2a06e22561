package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tandem/internal/provider"
	"tandem/internal/provider/openai"
)

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	answer, status := "", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || in.Model != "small" ||
			!slices.Equal(in.Input, []string{"a", "b"}) || r.Header.Get("Authorization") != "Bearer key-1" {
			t.Errorf("%s %+v %v", r.URL, in, err)
		}
		w.WriteHeader(status)
		w.Write([]byte(answer))
	}))
	defer server.Close()
	c := openai.New(openai.Options{Base: server.URL + "/v1", Wire: openai.Chat, Key: "key-1"})
	for _, good := range []string{
		`{"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2]}]}`,
		`{"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}`,
	} {
		answer = good
		got, err := c.Embed(t.Context(), "small", []string{"a", "b"})
		if err != nil || len(got) != 2 || !slices.Equal(got[0], []float32{1, 2}) || !slices.Equal(got[1], []float32{3, 4}) {
			t.Errorf("%s: %v, %v", good, got, err)
		}
	}
	for _, broken := range []string{``, `{}`, `{"data": [{"index": 0, "embedding": [1]}]}`,
		`{"data": [{"index": 1, "embedding": [1]}, {"index": 1, "embedding": [2]}]}`,
		`{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": [2]}]}`,
		`{"data": [{"index": 7, "embedding": [1]}, {"index": -1, "embedding": [2]}]}`,
		`{"data": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [2]}]}`} {
		answer = broken
		if got, err := c.Embed(t.Context(), "small", []string{"a", "b"}); provider.FailureOf(err) != provider.Garbled {
			t.Errorf("%s: %v, %v", broken, got, err)
		}
	}
	answer, status = `{"error": {"message": "wrong key key-1", "code": "invalid_api_key"}}`, http.StatusUnauthorized
	_, err := c.Embed(t.Context(), "small", []string{"a", "b"})
	if provider.FailureOf(err) != provider.Auth || strings.Contains(err.Error(), "key-1") {
		t.Error(err)
	}
}
