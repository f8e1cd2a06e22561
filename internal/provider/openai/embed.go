package openai

import (
	"context"
	"encoding/json"
	"io"

	"tandem/internal/provider"
)

// maxVectors bounds an answer of vectors, in bytes.
const maxVectors = 64 << 20

// Embed has a model say where texts point: a row of numbers for each, in their order.
func (c *Client) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	body, err := c.ep.Post(ctx, "/embeddings", obj{"model": model, "input": texts, "encoding_format": "float"}, classify)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, maxVectors+1))
	if err != nil {
		return nil, c.ep.Broken(ctx, err)
	}
	var answer struct {
		Data []struct {
			Index  int       `json:"index"`
			Vector []float32 `json:"embedding"`
		} `json:"data"`
	}
	if len(raw) > maxVectors || json.Unmarshal(raw, &answer) != nil || len(answer.Data) != len(texts) {
		return nil, &provider.Error{Failure: provider.Garbled, Message: "the answer holds no vector for each text"}
	}
	out := make([][]float32, len(texts))
	for i, d := range answer.Data {
		if at := d.Index; at >= 0 && at < len(out) && out[at] == nil && len(d.Vector) > 0 {
			out[at] = d.Vector
		} else if d.Index == 0 && out[i] == nil { // some leave the place out
			out[i] = d.Vector
		}
	}
	for _, v := range out {
		if len(v) == 0 {
			return nil, &provider.Error{Failure: provider.Garbled, Message: "the answer holds no vector for each text"}
		}
	}
	return out, nil
}
