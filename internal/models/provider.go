package models

import (
	"tandem/internal/provider"
	"tandem/internal/provider/catalog"
)

// ProviderInfo is a provider as people see it.
type ProviderInfo struct {
	catalog.Entry
	Connected bool   `json:"connected" jsonschema:"it needs no key, or has one"`
	Source    string `json:"source,omitempty" jsonschema:"where the key is: store or environment"`
	Custom    bool   `json:"custom,omitempty"`
}

// ProvidersOut lists providers.
type ProvidersOut struct {
	Providers []ProviderInfo `json:"providers"`
	Default   string         `json:"default" jsonschema:"the model of sessions that name none"`
}

// ProviderIn names a provider.
type ProviderIn struct {
	ID string `json:"id" jsonschema:"anthropic, openai, openrouter, opencode, ollama, local, or one that was added"`
}

// ProviderAddIn adds an endpoint that speaks a known wire, or moves a known one.
type ProviderAddIn struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Base    string `json:"base" jsonschema:"its address, e.g. http://127.0.0.1:8080/v1"`
	Wire    string `json:"wire,omitempty" jsonschema:"chat (the default), responses or anthropic"`
	Keyless bool   `json:"keyless,omitempty" jsonschema:"it needs no key"`
	Model   string `json:"model,omitempty" jsonschema:"the model to use when none is named"`
}

// ProviderKeyIn stores a key.
type ProviderKeyIn struct {
	ID   string `json:"id"`
	Key  string `json:"key" jsonschema:"the key; it is sealed and never shown"`
	Base string `json:"base,omitempty" jsonschema:"the address that it is meant for; refused when the provider has another one"`
}

// DefaultIn sets the model of sessions that name none.
type DefaultIn struct {
	Model string `json:"model" jsonschema:"provider/model"`
}

// ModelsOut lists a provider's models.
type ModelsOut struct {
	Models []provider.Info `json:"models"`
}
