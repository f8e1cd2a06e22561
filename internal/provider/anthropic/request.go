package anthropic

import (
	"tandem/internal/provider"
)

// Wire names the format of verbatim blocks.
const Wire = "anthropic"

type obj = map[string]any

var ephemeral = obj{"type": "ephemeral"}

// budgets are the tokens of reasoning that an effort buys.
var budgets = map[string]int{"low": 2048, "medium": 8192, "high": 24576}

func body(r provider.Request, defaultMax int) obj {
	maxTokens := r.MaxTokens
	if maxTokens == 0 {
		maxTokens = defaultMax
	}
	b := obj{"model": r.Model, "stream": true}
	if budget := budgets[r.Effort]; budget > 0 {
		// The budget is part of the limit, so the visible reply keeps what the caller asked for.
		b["thinking"] = obj{"type": "enabled", "budget_tokens": budget}
		maxTokens += budget
	} else {
		// With reasoning on, the API accepts neither of these.
		if r.Temperature != nil {
			b["temperature"] = *r.Temperature
		}
		if r.TopP != nil {
			b["top_p"] = *r.TopP
		}
	}
	b["max_tokens"] = maxTokens
	if r.System != "" {
		sys := obj{"type": "text", "text": r.System}
		if r.Cache {
			sys["cache_control"] = ephemeral
		}
		b["system"] = []any{sys}
	}
	if len(r.Tools) > 0 {
		b["tools"] = tools(r.Tools, r.Cache && r.System == "")
		switch r.Choice {
		case provider.None:
			b["tool_choice"] = obj{"type": "none"}
		case provider.Required:
			b["tool_choice"] = obj{"type": "any"}
		}
	}
	b["messages"] = messages(r.Messages, r.Cache)
	return b
}

func tools(ts []provider.Tool, cache bool) []any {
	out := make([]any, len(ts))
	for i, t := range ts {
		o := obj{"name": t.Name, "description": t.Doc, "input_schema": t.Schema}
		if cache && i == len(ts)-1 {
			o["cache_control"] = ephemeral
		}
		out[i] = o
	}
	return out
}

// messages joins neighbours of one role, because results of tools and the text after them are one message here, and
// marks the end of the newest message: the next call reads everything before it from the cache.
func messages(ms []provider.Message, cache bool) []any {
	var out []any
	var last obj
	var content []any
	for _, m := range ms {
		blocks := contentOf(m)
		if len(blocks) == 0 {
			continue
		}
		if last != nil && last["role"] == string(m.Role) {
			content = append(content, blocks...)
			last["content"] = content
			continue
		}
		content = blocks
		last = obj{"role": string(m.Role), "content": content}
		out = append(out, last)
	}
	if cache && last != nil {
		if tail, ok := content[len(content)-1].(obj); ok {
			tail["cache_control"] = ephemeral
		}
	}
	return out
}

func contentOf(m provider.Message) []any {
	var out []any
	for _, b := range m.Blocks {
		if b.Wire == Wire && len(b.Raw) > 0 {
			out = append(out, b.Raw)
			continue
		}
		switch b.Kind {
		case provider.Text:
			if b.Text != "" {
				out = append(out, obj{"type": "text", "text": b.Text})
			}
		case provider.ImageKind:
			out = append(out, image(*b.Image))
		case provider.CallKind:
			out = append(out, obj{"type": "tool_use", "id": b.Call.ID, "name": b.Call.Name, "input": b.Call.Object()})
		case provider.ResultOf:
			out = append(out, result(*b.Result))
		}
	}
	return out
}

func image(i provider.Image) obj {
	if i.URL != "" {
		return obj{"type": "image", "source": obj{"type": "url", "url": i.URL}}
	}
	return obj{"type": "image", "source": obj{"type": "base64", "media_type": i.Mime, "data": i.Data}}
}

func result(r provider.Result) obj {
	content := []any{}
	if r.Text != "" || len(r.Images) == 0 {
		content = append(content, obj{"type": "text", "text": r.Text})
	}
	for _, i := range r.Images {
		content = append(content, image(i))
	}
	o := obj{"type": "tool_result", "tool_use_id": r.CallID, "content": content}
	if r.Error {
		o["is_error"] = true
	}
	return o
}
