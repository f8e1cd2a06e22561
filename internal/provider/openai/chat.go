package openai

import "tandem/internal/provider"

func (c *Client) chatBody(r provider.Request) obj {
	b := obj{"model": r.Model, "stream": true, "stream_options": obj{"include_usage": true}, "messages": chatMessages(r)}
	if r.MaxTokens > 0 {
		if c.own {
			b["max_completion_tokens"] = r.MaxTokens
		} else {
			b["max_tokens"] = r.MaxTokens
		}
	}
	if r.Temperature != nil {
		b["temperature"] = *r.Temperature
	}
	if r.TopP != nil {
		b["top_p"] = *r.TopP
	}
	if r.Effort != "" {
		b["reasoning_effort"] = r.Effort
	}
	if c.own && r.Cache && r.CacheKey != "" {
		b["prompt_cache_key"] = r.CacheKey
	}
	if len(r.Tools) > 0 {
		ts := make([]any, len(r.Tools))
		for i, t := range r.Tools {
			ts[i] = obj{"type": "function", "function": obj{"name": t.Name, "description": t.Doc, "parameters": t.Schema}}
		}
		b["tools"] = ts
		if r.Choice != provider.Auto {
			b["tool_choice"] = string(r.Choice)
		}
	}
	return b
}

func chatMessages(r provider.Request) []any {
	out := []any{}
	if r.System != "" {
		out = append(out, obj{"role": "system", "content": r.System})
	}
	for _, m := range r.Messages {
		if m.Role == provider.Assistant {
			out = append(out, assistantMessage(m))
			continue
		}
		out = append(out, userMessages(m)...)
	}
	return out
}

// userMessages puts results first: this wire wants each right after the call it answers, and has no place for
// pictures in them, so those follow as the user's own.
func userMessages(m provider.Message) []any {
	var results, parts []any
	plain := true
	for _, b := range m.Blocks {
		switch b.Kind {
		case provider.Text:
			if b.Text != "" {
				parts = append(parts, obj{"type": "text", "text": b.Text})
			}
		case provider.ImageKind:
			plain = false
			parts = append(parts, obj{"type": "image_url", "image_url": obj{"url": imageURL(*b.Image)}})
		case provider.ResultOf:
			text := b.Result.Text
			if b.Result.Error {
				text = "error: " + text
			}
			results = append(results, obj{"role": "tool", "tool_call_id": b.Result.CallID, "content": text})
			for _, i := range b.Result.Images {
				plain = false
				parts = append(parts, obj{"type": "image_url", "image_url": obj{"url": imageURL(i)}})
			}
		}
	}
	switch {
	case len(parts) == 0:
	case plain && len(parts) == 1:
		// Some servers understand nothing but a string here.
		results = append(results, obj{"role": "user", "content": parts[0].(obj)["text"]})
	default:
		results = append(results, obj{"role": "user", "content": parts})
	}
	return results
}

func assistantMessage(m provider.Message) obj {
	text := ""
	var calls []any
	out := obj{"role": "assistant"}
	for _, b := range m.Blocks {
		switch b.Kind {
		case provider.Text:
			text += b.Text
		case provider.CallKind:
			if b.Wire == Chat && len(b.Raw) > 0 {
				calls = append(calls, b.Raw)
				continue
			}
			calls = append(calls, obj{"id": b.Call.ID, "type": "function",
				"function": obj{"name": b.Call.Name, "arguments": string(b.Call.Object())}})
		case provider.Opaque:
			// Reasoning that the provider wants back unchanged (OpenRouter's reasoning_details).
			if b.Wire == Chat && len(b.Raw) > 0 {
				out["reasoning_details"] = b.Raw
			}
		}
	}
	if text != "" || len(calls) == 0 {
		out["content"] = text
	}
	if len(calls) > 0 {
		out["tool_calls"] = calls
	}
	return out
}
