package openai

import (
	"context"
	"encoding/json"
	"io"

	"tandem/internal/provider"
	"tandem/internal/provider/sse"
)

func responsesBody(r provider.Request) obj {
	b := obj{"model": r.Model, "stream": true, "store": false, "input": input(r.Messages), "include": []string{"reasoning.encrypted_content"}}
	if r.System != "" {
		b["instructions"] = r.System
	}
	if r.MaxTokens > 0 {
		b["max_output_tokens"] = r.MaxTokens
	}
	if r.Temperature != nil {
		b["temperature"] = *r.Temperature
	}
	if r.TopP != nil {
		b["top_p"] = *r.TopP
	}
	if r.Effort != "" {
		b["reasoning"] = obj{"effort": r.Effort, "summary": "auto"}
	}
	if r.Cache && r.CacheKey != "" {
		b["prompt_cache_key"] = r.CacheKey
	}
	if len(r.Tools) > 0 {
		ts := make([]any, len(r.Tools))
		for i, t := range r.Tools {
			ts[i] = obj{"type": "function", "name": t.Name, "description": t.Doc, "parameters": t.Schema, "strict": false}
		}
		b["tools"] = ts
		if r.Choice != provider.Auto {
			b["tool_choice"] = string(r.Choice)
		}
	}
	return b
}

// input flattens messages: in this wire calls and results stand beside messages, not inside them.
func input(ms []provider.Message) []any {
	out := []any{}
	for _, m := range ms {
		var content []any
		flush := func() {
			if len(content) > 0 {
				out = append(out, obj{"type": "message", "role": string(m.Role), "content": content})
				content = nil
			}
		}
		textType := "input_text"
		if m.Role == provider.Assistant {
			textType = "output_text"
		}
		for _, b := range m.Blocks {
			if b.Wire == Responses && len(b.Raw) > 0 {
				flush()
				out = append(out, b.Raw)
				continue
			}
			switch b.Kind {
			case provider.Text:
				if b.Text != "" {
					content = append(content, obj{"type": textType, "text": b.Text})
				}
			case provider.ImageKind:
				content = append(content, obj{"type": "input_image", "image_url": imageURL(*b.Image)})
			case provider.CallKind:
				flush()
				out = append(out, obj{"type": "function_call", "call_id": b.Call.ID, "name": b.Call.Name, "arguments": string(b.Call.Object())})
			case provider.ResultOf:
				flush()
				out = append(out, obj{"type": "function_call_output", "call_id": b.Result.CallID, "output": output(*b.Result)})
			}
		}
		flush()
	}
	return out
}

func output(r provider.Result) any {
	text := r.Text
	if r.Error {
		text = "error: " + text
	}
	if len(r.Images) == 0 {
		return text
	}
	parts := []any{obj{"type": "input_text", "text": text}}
	for _, i := range r.Images {
		parts = append(parts, obj{"type": "input_image", "image_url": imageURL(i)})
	}
	return parts
}

type responsesEvent struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Item     json.RawMessage `json:"item"`
	Delta    string          `json:"delta"`
	Response struct {
		ID         string                          `json:"id"`
		Model      string                          `json:"model"`
		Usage      *responsesUsage                 `json:"usage"`
		Error      *struct{ Code, Message string } `json:"error"`
		Incomplete *struct{ Reason string }        `json:"incomplete_details"`
	} `json:"response"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responsesUsage struct {
	Input   int64 `json:"input_tokens"`
	Details struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) neutral() provider.Usage {
	if u == nil {
		return provider.Usage{}
	}
	return provider.Usage{Input: max(u.Input-u.Details.Cached, 0), CacheRead: u.Details.Cached, Output: u.Output,
		Reasoning: u.OutputDetails.Reasoning}
}

func (c *Client) readResponses(ctx context.Context, body io.Reader, emit func(provider.Part)) (provider.Reply, error) {
	var out provider.Reply
	in := sse.NewReader(body, 0)
	refused := false
	for {
		ev, err := in.Next()
		if err != nil {
			return out, c.ep.Broken(ctx, err)
		}
		var e responsesEvent
		if err := decode(ev.Data, &e); err != nil {
			return out, err
		}
		switch e.Type {
		case "response.created":
			out.ID, out.Model = e.Response.ID, e.Response.Model
		case "response.output_item.added":
			b, err := block(e.Item)
			if err != nil {
				return out, err
			}
			p := provider.Part{Index: e.Index, Kind: b.Kind}
			if b.Call != nil {
				p.Call = &provider.Call{ID: b.Call.ID, Name: b.Call.Name}
			}
			emit(p)
		case "response.output_text.delta":
			emit(provider.Part{Index: e.Index, Kind: provider.Text, Delta: e.Delta})
		case "response.refusal.delta":
			refused = true
			emit(provider.Part{Index: e.Index, Kind: provider.Text, Delta: e.Delta})
		case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
			emit(provider.Part{Index: e.Index, Kind: provider.Reasoning, Delta: e.Delta})
		case "response.function_call_arguments.delta":
			emit(provider.Part{Index: e.Index, Kind: provider.CallKind, Delta: e.Delta})
		case "response.output_item.done":
			b, err := block(e.Item)
			if err != nil {
				return out, err
			}
			out.Blocks = append(out.Blocks, b)
			emit(provider.Part{Index: e.Index, Kind: b.Kind, Done: &b})
		case "response.completed", "response.incomplete":
			out.Usage = e.Response.Usage.neutral()
			out.Stop = provider.StopEnd
			switch {
			case refused:
				out.Stop = provider.StopRefusal
			case e.Type == "response.incomplete":
				out.Stop = provider.StopLength
				if e.Response.Incomplete != nil && e.Response.Incomplete.Reason == "content_filter" {
					out.Stop = provider.StopRefusal
				}
			case len(out.Calls()) > 0:
				out.Stop = provider.StopTools
			}
			return out, nil
		case "response.failed":
			out.Usage = e.Response.Usage.neutral()
			if e.Response.Error != nil {
				return out, c.failed(e.Response.Error.Code, e.Response.Error.Message)
			}
			return out, c.failed("server_error", "the provider says that the reply failed, and not why")
		case "error":
			return out, c.failed(e.Code, e.Message)
		}
	}
}

// block reads one output item and keeps it as it came.
func block(raw json.RawMessage) (provider.Block, error) {
	var item struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		Content   []struct {
			Type, Text, Refusal string
		} `json:"content"`
		Summary []struct{ Text string } `json:"summary"`
	}
	if err := decode(raw, &item); err != nil {
		return provider.Block{}, err
	}
	b := provider.Block{Kind: provider.Opaque, Wire: Responses, Raw: raw}
	switch item.Type {
	case "message":
		b.Kind = provider.Text
		for _, p := range item.Content {
			b.Text += p.Text + p.Refusal
		}
	case "reasoning":
		b.Kind = provider.Reasoning
		for i, p := range item.Summary {
			if i > 0 {
				b.Text += "\n\n"
			}
			b.Text += p.Text
		}
		if len(item.Summary) == 0 {
			for _, p := range item.Content {
				b.Text += p.Text
			}
		}
	case "function_call":
		b.Kind = provider.CallKind
		b.Call = &provider.Call{ID: item.CallID, Name: item.Name, Args: provider.ArgsOf(item.Arguments)}
	}
	return b, nil
}
