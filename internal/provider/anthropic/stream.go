package anthropic

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"tandem/internal/provider"
	"tandem/internal/provider/sse"
)

type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		JSON      string          `json:"partial_json"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Citation  json.RawMessage `json:"citation"`
		Stop      string          `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// usage has pointers because the last event repeats only some numbers, as totals and not as additions.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

func (u usage) into(v *provider.Usage) {
	for _, p := range []struct {
		from *int64
		to   *int64
	}{{u.Input, &v.Input}, {u.Output, &v.Output}, {u.CacheRead, &v.CacheRead}, {u.CacheWrite, &v.CacheWrite}} {
		if p.from != nil {
			*p.to = *p.from
		}
	}
}

// open is a block whose deltas are still arriving. fields keeps every field that the provider sent at its start,
// known to us or not.
type open struct {
	kind      provider.Kind
	fields    map[string]json.RawMessage
	text      strings.Builder
	signature strings.Builder
	citations []json.RawMessage
	call      *provider.Call
}

func (c *Client) read(ctx context.Context, body io.Reader, emit func(provider.Part)) (provider.Reply, error) {
	if emit == nil {
		emit = func(provider.Part) {}
	}
	var out provider.Reply
	blocks := map[int]*open{}
	in := sse.NewReader(body, 0)
	for {
		ev, err := in.Next()
		if err != nil {
			return out, c.ep.Broken(ctx, err)
		}
		var e event
		if err := decode(ev.Data, &e); err != nil {
			return out, err
		}
		switch e.Type {
		case "message_start":
			out.ID, out.Model = e.Message.ID, e.Message.Model
			e.Message.Usage.into(&out.Usage)
		case "content_block_start":
			b, err := begin(e.Block)
			if err != nil {
				return out, err
			}
			blocks[e.Index] = b
			emit(provider.Part{Index: e.Index, Kind: b.kind, Call: b.call})
			if s := b.text.String(); s != "" {
				emit(provider.Part{Index: e.Index, Kind: b.kind, Delta: s})
			}
		case "content_block_delta":
			b := blocks[e.Index]
			if b == nil {
				return out, garbled("a delta names a block that was not begun", nil)
			}
			if s := b.add(e); s != "" {
				emit(provider.Part{Index: e.Index, Kind: b.kind, Delta: s})
			}
		case "content_block_stop":
			b := blocks[e.Index]
			if b == nil {
				return out, garbled("a block ends that was not begun", nil)
			}
			delete(blocks, e.Index)
			done, err := b.end()
			if err != nil {
				return out, err
			}
			out.Blocks = append(out.Blocks, done)
			emit(provider.Part{Index: e.Index, Kind: done.Kind, Done: &done})
		case "message_delta":
			e.Usage.into(&out.Usage)
			if e.Delta.Stop != "" {
				out.Stop = stopOf(e.Delta.Stop)
			}
		case "message_stop":
			return out, nil
		case "error":
			return out, &provider.Error{Failure: classify(0, e.Error.Type, e.Error.Message), Message: c.ep.Scrub(e.Error.Message)}
		}
	}
}

func begin(raw json.RawMessage) (*open, error) {
	b := &open{fields: map[string]json.RawMessage{}}
	var head struct {
		Type, Text, Thinking, ID, Name string
	}
	if err := decode(raw, &head); err != nil {
		return nil, err
	}
	if err := decode(raw, &b.fields); err != nil {
		return nil, err
	}
	switch head.Type {
	case "text":
		b.kind = provider.Text
		b.text.WriteString(head.Text)
	case "thinking":
		b.kind = provider.Reasoning
		b.text.WriteString(head.Thinking)
	case "tool_use":
		b.kind = provider.CallKind
		b.call = &provider.Call{ID: head.ID, Name: head.Name}
	default:
		b.kind = provider.Opaque
	}
	return b, nil
}

// add takes a delta in and returns what of it a reader may see.
func (b *open) add(e event) string {
	s := ""
	switch e.Delta.Type {
	case "text_delta":
		s = e.Delta.Text
	case "input_json_delta":
		s = e.Delta.JSON
	case "thinking_delta":
		s = e.Delta.Thinking
	case "signature_delta":
		b.signature.WriteString(e.Delta.Signature)
	case "citations_delta":
		b.citations = append(b.citations, e.Delta.Citation)
	}
	b.text.WriteString(s)
	return s
}

func (b *open) end() (provider.Block, error) {
	out := provider.Block{Kind: b.kind, Wire: Wire}
	put := func(k string, v any) {
		b.fields[k], _ = json.Marshal(v) // strings and raw JSON always encode
	}
	switch b.kind {
	case provider.Text:
		out.Text = b.text.String()
		put("text", out.Text)
		if len(b.citations) > 0 {
			put("citations", b.citations)
		}
	case provider.Reasoning:
		out.Text = b.text.String()
		put("thinking", out.Text)
		if b.signature.Len() > 0 {
			put("signature", b.signature.String())
		}
	case provider.CallKind:
		b.call.Args = provider.ArgsOf(b.text.String())
		if b.text.Len() == 0 && len(b.fields["input"]) > 0 {
			b.call.Args = b.fields["input"]
		}
		out.Call = b.call
		put("input", b.call.Object())
	case provider.Opaque:
		if s := b.text.String(); json.Valid([]byte(s)) {
			put("input", json.RawMessage(s))
		}
	}
	raw, err := json.Marshal(b.fields)
	if err != nil {
		return out, garbled("a block cannot be kept", err)
	}
	out.Raw = raw
	return out, nil
}
