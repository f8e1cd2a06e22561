package scripted

// chatVoice speaks Chat Completions.
type chatVoice struct{ p *player }

func (v chatVoice) emit(delta obj, finish any) {
	v.p.event("", obj{"id": "chatcmpl-" + v.p.id, "object": "chat.completion.chunk", "created": 1700000000, "model": v.p.q.Model,
		"choices": []any{obj{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (v chatVoice) begin() { v.emit(obj{"role": "assistant", "content": ""}, nil) }

// index counts the calls before block i: this wire numbers calls, not blocks.
func (v chatVoice) index(i int) int {
	n := 0
	for _, b := range v.p.blocks[:i] {
		if b.kind == "tool" {
			n++
		}
	}
	return n
}

func (v chatVoice) open(i int, b block) {
	if b.kind == "tool" {
		v.emit(obj{"tool_calls": []any{obj{"index": v.index(i), "id": b.id, "type": "function",
			"function": obj{"name": b.name, "arguments": ""}}}}, nil)
	}
}

func (v chatVoice) delta(i int, b block, piece string) {
	switch b.kind {
	case "think":
		v.emit(obj{"reasoning_content": piece}, nil)
	case "tool":
		v.emit(obj{"tool_calls": []any{obj{"index": v.index(i), "function": obj{"arguments": piece}}}}, nil)
	default:
		v.emit(obj{"content": piece}, nil)
	}
}

func (v chatVoice) close(int, block) {}

var chatStops = map[string]string{"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "content_filter"}

func (v chatVoice) usage(u usage) obj {
	return obj{"prompt_tokens": u.in, "completion_tokens": u.out, "total_tokens": u.in + u.out,
		"prompt_tokens_details": obj{"cached_tokens": u.cached}}
}

func (v chatVoice) end(stop string, u usage) {
	v.emit(obj{}, chatStops[stop])
	v.p.event("", obj{"id": "chatcmpl-" + v.p.id, "object": "chat.completion.chunk", "created": 1700000000, "model": v.p.q.Model,
		"choices": []any{}, "usage": v.usage(u)})
	_, _ = v.p.w.Write([]byte("data: [DONE]\n\n")) // the client may be gone
	v.p.flush()
}

func (v chatVoice) broken(msg string) {
	v.p.event("", obj{"error": obj{"message": msg, "code": "overloaded_error"}})
}

func (v chatVoice) whole(bs []block, stop string, u usage) any {
	m := obj{"role": "assistant", "content": nil}
	text := ""
	var calls []any
	for _, b := range bs {
		switch b.kind {
		case "text":
			text += b.text
		case "think":
			m["reasoning_content"] = b.text
		case "tool":
			calls = append(calls, obj{"id": b.id, "type": "function", "function": obj{"name": b.name, "arguments": b.text}})
		}
	}
	if text != "" {
		m["content"] = text
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return obj{"id": "chatcmpl-" + v.p.id, "object": "chat.completion", "created": 1700000000, "model": v.p.q.Model,
		"choices": []any{obj{"index": 0, "message": m, "finish_reason": chatStops[stop]}}, "usage": v.usage(u)}
}
