package catalog

import (
	"fmt"
	"net/http"
	"strings"

	"tandem/internal/provider"
	"tandem/internal/provider/anthropic"
	"tandem/internal/provider/local"
	"tandem/internal/provider/openai"
)

// Entry is one provider. A person may add entries of their own for compatible endpoints.
type Entry struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Base string `json:"base"`
	Wire string `json:"wire"`          // anthropic, responses, chat or local
	Env  string `json:"env,omitempty"` // the variable that may hold the key
	// Keyless providers work without a key.
	Keyless bool   `json:"keyless,omitempty"`
	Default string `json:"default_model,omitempty"`
}

// entries are the presets; addresses and variables are the providers' own documented ones.
var entries = []Entry{
	{ID: "local", Name: "Local echo", Wire: "local", Keyless: true, Default: local.Name},
	{ID: "anthropic", Name: "Anthropic", Base: anthropic.DefaultBase, Wire: anthropic.Wire, Env: "ANTHROPIC_API_KEY",
		Default: "claude-sonnet-4-5"},
	{ID: "openai", Name: "OpenAI", Base: openai.DefaultBase, Wire: openai.Responses, Env: "OPENAI_API_KEY", Default: "gpt-5"},
	{ID: "openrouter", Name: "OpenRouter", Base: "https://openrouter.ai/api/v1", Wire: openai.Chat, Env: "OPENROUTER_API_KEY"},
	{ID: "opencode", Name: "OpenCode Zen", Base: "https://opencode.ai/zen/v1", Wire: openai.Chat, Env: "OPENCODE_API_KEY"},
	{ID: "ollama", Name: "Ollama", Base: "http://127.0.0.1:11434/v1", Wire: openai.Chat, Keyless: true},
}

// aliases are names that people and older clients use.
var aliases = map[string]string{"zen": "opencode", "opencode-zen": "opencode", "opencode_zen": "opencode", "claude": "anthropic"}

// All lists the presets.
func All() []Entry { return append([]Entry(nil), entries...) }

// Find returns the preset with this name.
func Find(id string) (Entry, bool) {
	id = strings.ToLower(id)
	if a, ok := aliases[id]; ok {
		id = a
	}
	for _, e := range entries {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// Split reads "provider/model"; the model may hold slashes of its own (OpenRouter's do).
func Split(ref string) (providerID, model string, ok bool) {
	providerID, model, ok = strings.Cut(ref, "/")
	return providerID, model, ok && providerID != "" && model != ""
}

// Open makes a client for an entry.
func Open(e Entry, key string, tr http.RoundTripper) (provider.Model, error) {
	if key == "" && !e.Keyless && e.Wire != "local" {
		return nil, &provider.Error{Failure: provider.Auth,
			Message: fmt.Sprintf("no key for %s is stored; a person stores one: tandem provider key %s", e.Name, e.ID)}
	}
	switch e.Wire {
	case "local":
		return local.Model{}, nil
	case anthropic.Wire:
		return anthropic.New(anthropic.Options{Base: e.Base, Key: key, Transport: tr}), nil
	case openai.Responses, openai.Chat:
		var h http.Header
		if e.ID == "openrouter" {
			h = http.Header{"X-Title": {"Tandem"}}
		}
		return openai.New(openai.Options{Base: e.Base, Wire: e.Wire, Key: key, Header: h, Transport: tr}), nil
	}
	return nil, fmt.Errorf("provider %s has the unknown wire %q", e.ID, e.Wire)
}
