package scripted

import (
	"fmt"
	"strings"
)

// responsesVoice speaks the Responses API. Events are numbered, as clients may check that.
type responsesVoice struct {
	p   *player
	seq int
}

func (v *responsesVoice) emit(typ string, o obj) {
	o["type"], o["sequence_number"] = typ, v.seq
	v.seq++
	v.p.event(typ, o)
}

func (v *responsesVoice) response(status string, out []any) obj {
	return obj{"id": "resp_" + v.p.id, "object": "response", "created_at": 1700000000, "status": status, "model": v.p.q.Model, "output": out}
}

func (v *responsesVoice) begin() {
	v.emit("response.created", obj{"response": v.response("in_progress", []any{})})
}

func (v *responsesVoice) item(i int, b block, done bool) obj {
	status, text := "in_progress", ""
	if done {
		status, text = "completed", b.text
	}
	id := fmt.Sprintf("%s%d", v.p.id, i)
	switch b.kind {
	case "think":
		o := obj{"id": "rs_" + id, "type": "reasoning", "summary": []any{}}
		if done {
			o["summary"] = []any{obj{"type": "summary_text", "text": text}}
			o["encrypted_content"] = "sealed-" + id
		}
		return o
	case "tool":
		o := obj{"id": "fc_" + id, "type": "function_call", "status": status, "call_id": b.id, "name": b.name, "arguments": text}
		if space, name, ok := strings.Cut(b.name, "/"); ok { // Codex offers an MCP server's tools as a namespace
			o["namespace"], o["name"] = space, name
		}
		return o
	}
	content := []any{}
	if done {
		content = append(content, obj{"type": "output_text", "text": text, "annotations": []any{}})
	}
	return obj{"id": "msg_" + id, "type": "message", "status": status, "role": "assistant", "content": content}
}

func (v *responsesVoice) open(i int, b block) {
	it := v.item(i, b, false)
	v.emit("response.output_item.added", obj{"output_index": i, "item": it})
	switch b.kind {
	case "text":
		v.emit("response.content_part.added", obj{"output_index": i, "item_id": it["id"], "content_index": 0,
			"part": obj{"type": "output_text", "text": "", "annotations": []any{}}})
	case "think":
		v.emit("response.reasoning_summary_part.added", obj{"output_index": i, "item_id": it["id"], "summary_index": 0,
			"part": obj{"type": "summary_text", "text": ""}})
	}
}

func (v *responsesVoice) delta(i int, b block, piece string) {
	o := obj{"output_index": i, "item_id": v.item(i, b, false)["id"], "delta": piece}
	switch b.kind {
	case "think":
		o["summary_index"] = 0
		v.emit("response.reasoning_summary_text.delta", o)
	case "tool":
		v.emit("response.function_call_arguments.delta", o)
	default:
		o["content_index"] = 0
		v.emit("response.output_text.delta", o)
	}
}

func (v *responsesVoice) close(i int, b block) {
	it := v.item(i, b, true)
	switch b.kind {
	case "tool":
		v.emit("response.function_call_arguments.done", obj{"output_index": i, "item_id": it["id"], "arguments": b.text})
	case "text":
		v.emit("response.output_text.done", obj{"output_index": i, "item_id": it["id"], "content_index": 0, "text": b.text})
	}
	v.emit("response.output_item.done", obj{"output_index": i, "item": it})
}

func (v *responsesVoice) final(bs []block, stop string, u usage) obj {
	out := []any{}
	reasoning := 0
	for i, b := range bs {
		out = append(out, v.item(i, b, true))
		if b.kind == "think" {
			reasoning = 1
		}
	}
	r := v.response("completed", out)
	switch stop {
	case "length":
		r["status"], r["incomplete_details"] = "incomplete", obj{"reason": "max_output_tokens"}
	case "refusal":
		r["status"], r["incomplete_details"] = "incomplete", obj{"reason": "content_filter"}
	}
	r["usage"] = obj{"input_tokens": u.in, "input_tokens_details": obj{"cached_tokens": u.cached}, "output_tokens": u.out,
		"output_tokens_details": obj{"reasoning_tokens": reasoning}, "total_tokens": u.in + u.out}
	return r
}

func (v *responsesVoice) end(stop string, u usage) {
	r := v.final(v.p.blocks, stop, u)
	v.emit("response."+r["status"].(string), obj{"response": r})
}

func (v *responsesVoice) broken(msg string) {
	r := v.response("failed", []any{})
	r["error"] = obj{"code": "server_is_overloaded", "message": msg}
	v.emit("response.failed", obj{"response": r})
}

func (v *responsesVoice) whole(bs []block, stop string, u usage) any { return v.final(bs, stop, u) }
