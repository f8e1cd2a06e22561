package openai_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandem/internal/provider"
	"tandem/internal/provider/openai"
)

// A real model on this machine, where one runs: Ollama or a llama.cpp server at its usual place.
func TestServersOfThisMachine(t *testing.T) {
	found := false
	for name, base := range map[string]string{"Ollama": "http://127.0.0.1:11434/v1", "llama.cpp": "http://127.0.0.1:8080/v1"} {
		short := &http.Client{Timeout: time.Second}
		resp, err := short.Get(base + "/models")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(resp.Header.Get("Content-Type"), "json") {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		m := openai.New(openai.Options{Base: base, Wire: openai.Chat})
		models, err := m.List(ctx)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(models) == 0 {
			continue
		}
		found = true
		streamed := ""
		r, err := m.Stream(ctx, provider.Request{Model: models[0].ID, MaxTokens: 64,
			Messages: []provider.Message{provider.TextMessage(provider.User, "Answer with the word yes.")}},
			func(p provider.Part) { streamed += p.Delta })
		if err != nil || r.Text() == "" && streamed == "" {
			t.Errorf("%s with %s: %+v %v", name, models[0].ID, r, err)
		}
	}
	if !found {
		t.Skip("neither Ollama nor a llama.cpp server with a model answers on this machine: only the scripted server sits the exam")
	}
}
