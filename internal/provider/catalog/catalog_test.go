package catalog

import (
	"strings"
	"testing"

	"tandem/internal/provider"
)

func TestPriceOf(t *testing.T) {
	for _, c := range []struct {
		provider, model string
		input           provider.Nano
		known           bool
	}{
		{"anthropic", "claude-sonnet-4-5-20250929", 3000, true},
		{"anthropic", "claude-opus-4-5", 5000, true},
		{"anthropic", "claude-opus-4-1-20250805", 15000, true},
		{"anthropic", "claude-opus-4-9", 0, false},
		{"openai", "gpt-5", 1250, true},
		{"openai", "gpt-5-2025-08-07", 1250, true},
		{"openai", "gpt-5-mini", 250, true},
		{"openai", "gpt-5-codex", 0, false},
		{"openai", "gpt-4o-mini-2024-07-18", 150, true},
		{"ollama", "qwen3:8b", 0, true},
		{"openrouter", "anthropic/claude-sonnet-4-5", 0, false},
		{"nobody", "x", 0, false},
	} {
		p, known := PriceOf(c.provider, c.model)
		if known != c.known || p.Input != c.input {
			t.Errorf("%s/%s: got %d known %v, want %d known %v", c.provider, c.model, p.Input, known, c.input, c.known)
		}
	}
	p, _ := PriceOf("anthropic", "claude-sonnet-4-5")
	got := p.Of(provider.Usage{Input: 1_000_000, Output: 100_000, CacheRead: 1_000_000, CacheWrite: 10_000})
	if want := provider.Nano(3_000_000_000 + 1_500_000_000 + 300_000_000 + 37_500_000); got != want {
		t.Errorf("cost %d, want %d", got, want)
	}
}

func TestFindAndOpen(t *testing.T) {
	if e, ok := Find("Zen"); !ok || e.ID != "opencode" {
		t.Errorf("zen is %q %v", e.ID, ok)
	}
	if _, ok := Find("nobody"); ok {
		t.Error("an unknown provider was found")
	}
	for _, e := range All() {
		if _, err := Open(e, "k", nil); err != nil {
			t.Errorf("%s: %v", e.ID, err)
		}
		_, err := Open(e, "", nil)
		if err != nil && !strings.Contains(err.Error(), "tandem provider key "+e.ID) {
			t.Errorf("without a key %s does not say what to type: %v", e.ID, err)
		}
		if needs := !e.Keyless; needs != (provider.FailureOf(err) == provider.Auth) {
			t.Errorf("%s without a key: %v", e.ID, err)
		}
	}
	if _, err := Open(Entry{ID: "x", Wire: "smoke", Keyless: true}, "", nil); err == nil {
		t.Error("an unknown wire was opened")
	}
	if p, m, ok := Split("openrouter/meta/llama"); !ok || p != "openrouter" || m != "meta/llama" {
		t.Errorf("split: %s %s %v", p, m, ok)
	}
}
