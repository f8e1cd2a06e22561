package scripted

import "encoding/json"

// anthropicVoice speaks the Messages API.
type anthropicVoice struct{ p *player }

func (v anthropicVoice) emit(typ string, o obj) {
	o["type"] = typ
	v.p.event(typ, o)
}

func (v anthropicVoice) begin() {
	in := len(v.p.q.Body)/4 + 1
	v.emit("message_start", obj{"message": obj{"id": "msg_" + v.p.id, "type": "message", "role": "assistant", "model": v.p.q.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": obj{"input_tokens": in, "output_tokens": 1}}})
	v.emit("ping", obj{})
}

// signature marks reasoning, so that a test can see whether it came back unchanged.
func (v anthropicVoice) signature(i int) string { return "sig-" + v.p.id + string(rune('a'+i)) }

func (v anthropicVoice) open(i int, b block) {
	var c obj
	switch b.kind {
	case "text":
		c = obj{"type": "text", "text": ""}
	case "think":
		c = obj{"type": "thinking", "thinking": "", "signature": ""}
	case "tool":
		c = obj{"type": "tool_use", "id": "tool" + b.id, "name": b.name, "input": obj{}}
	}
	v.emit("content_block_start", obj{"index": i, "content_block": c})
}

func (v anthropicVoice) delta(i int, b block, piece string) {
	d := obj{"type": "text_delta", "text": piece}
	switch b.kind {
	case "think":
		d = obj{"type": "thinking_delta", "thinking": piece}
	case "tool":
		d = obj{"type": "input_json_delta", "partial_json": piece}
	}
	v.emit("content_block_delta", obj{"index": i, "delta": d})
}

func (v anthropicVoice) close(i int, b block) {
	if b.kind == "think" {
		v.emit("content_block_delta", obj{"index": i, "delta": obj{"type": "signature_delta", "signature": v.signature(i)}})
	}
	v.emit("content_block_stop", obj{"index": i})
}

var anthropicStops = map[string]string{"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refusal": "refusal"}

func (v anthropicVoice) usage(u usage) obj {
	return obj{"input_tokens": u.in - u.cached, "cache_read_input_tokens": u.cached, "cache_creation_input_tokens": 0, "output_tokens": u.out}
}

func (v anthropicVoice) end(stop string, u usage) {
	v.emit("message_delta", obj{"delta": obj{"stop_reason": anthropicStops[stop], "stop_sequence": nil}, "usage": v.usage(u)})
	v.emit("message_stop", obj{})
}

func (v anthropicVoice) broken(msg string) {
	v.emit("error", obj{"error": obj{"type": "overloaded_error", "message": msg}})
}

func (v anthropicVoice) whole(bs []block, stop string, u usage) any {
	content := []any{}
	for i, b := range bs {
		switch b.kind {
		case "text":
			content = append(content, obj{"type": "text", "text": b.text})
		case "think":
			content = append(content, obj{"type": "thinking", "thinking": b.text, "signature": v.signature(i)})
		case "tool":
			content = append(content, obj{"type": "tool_use", "id": "tool" + b.id, "name": b.name, "input": json.RawMessage(b.text)})
		}
	}
	return obj{"id": "msg_" + v.p.id, "type": "message", "role": "assistant", "model": v.p.q.Model, "content": content,
		"stop_reason": anthropicStops[stop], "stop_sequence": nil, "usage": v.usage(u)}
}
