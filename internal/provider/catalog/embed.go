package catalog

import (
	"context"
	"net/http"

	"tandem/internal/provider"
	"tandem/internal/provider/openai"
)

// Embed has a model of an entry say where texts point. Only those who speak OpenAI's wires can.
func Embed(ctx context.Context, e Entry, key string, tr http.RoundTripper, model string, texts []string) ([][]float32, error) {
	m, err := Open(e, key, tr)
	if err != nil {
		return nil, err
	}
	c, ok := m.(*openai.Client)
	if !ok {
		return nil, &provider.Error{Failure: provider.Rejected, Message: e.Name + " makes no vectors of texts"}
	}
	return c.Embed(ctx, model, texts)
}
