package provider

import "context"

// Model speaks to one provider. Implementations: anthropic, openai (two wires), local.
type Model interface {
	// Stream sends one request and reports its parts through emit, in order, on the caller's goroutine. It returns
	// when the reply is complete, the context ends or the call fails; failures are *Error except for the context's
	// own. A nil emit is allowed.
	Stream(ctx context.Context, r Request, emit func(Part)) (Reply, error)
	// List names the models that this key may use.
	List(ctx context.Context) ([]Info, error)
}

// Info describes a model that a provider offers. Zero means that the provider did not say.
type Info struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Context int64  `json:"context,omitempty"`
	Output  int64  `json:"output,omitempty"`
}
