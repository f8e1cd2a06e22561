package openai

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"tandem/internal/provider"
	"tandem/internal/provider/sse"
)

type chatChunk struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		Delta  chatDelta `json:"delta"`
		Finish string    `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		OutDetails struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatDelta struct {
	Content   string            `json:"content"`
	Refusal   string            `json:"refusal"`
	Reasoning string            `json:"reasoning"`         // OpenRouter, Ollama
	Thought   string            `json:"reasoning_content"` // vLLM, llama.cpp, DeepSeek
	Details   []json.RawMessage `json:"reasoning_details"`
	Calls     []json.RawMessage `json:"tool_calls"`
}

// chatState gathers the reply. This wire has no blocks: text, reasoning and calls grow side by side, and become blocks
// in the order reasoning, text, calls.
type chatState struct {
	emit            func(provider.Part)
	text, reasoning strings.Builder
	details         []json.RawMessage
	calls           []*chatCall
	refused         bool
	next            int
	textAt, thinkAt int // part indices, -1 until the first piece
}

type chatCall struct {
	at     int
	index  int
	id     string
	name   string
	args   strings.Builder
	fields map[string]json.RawMessage // everything beside index and function, as it came
	told   bool
}

func (c *Client) readChat(ctx context.Context, body io.Reader, emit func(provider.Part)) (provider.Reply, error) {
	var out provider.Reply
	st := &chatState{emit: emit, textAt: -1, thinkAt: -1}
	in := sse.NewReader(body, 0)
	finish := ""
	for {
		ev, err := in.Next()
		if err != nil || string(ev.Data) == "[DONE]" {
			// Some servers leave out the last line; a reason to finish is what ends the reply.
			if finish == "" {
				return out, c.ep.Broken(ctx, err)
			}
			if cause := context.Cause(ctx); cause != nil {
				return out, cause
			}
			st.end(&out, finish)
			return out, nil
		}
		var e chatChunk
		if err := decode(ev.Data, &e); err != nil {
			return out, err
		}
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return out, c.chatError(e.Error)
		}
		if e.ID != "" {
			out.ID = e.ID
		}
		if e.Model != "" {
			out.Model = e.Model
		}
		if u := e.Usage; u != nil {
			out.Usage = provider.Usage{Input: max(u.Prompt-u.Details.Cached, 0), CacheRead: u.Details.Cached, Output: u.Completion,
				Reasoning: u.OutDetails.Reasoning}
		}
		for _, ch := range e.Choices {
			if err := st.add(ch.Delta); err != nil {
				return out, err
			}
			if ch.Finish != "" {
				finish = ch.Finish
			}
		}
	}
}

func (c *Client) chatError(raw json.RawMessage) error {
	var e struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return c.failed("", string(raw))
	}
	switch v := e.Code.(type) {
	case string:
		return c.failed(v, e.Message)
	case float64: // OpenRouter puts an HTTP status here
		return &provider.Error{Failure: classify(int(v), "", e.Message), Status: int(v), Message: c.ep.Scrub(e.Message)}
	}
	return c.failed("", e.Message)
}

func (s *chatState) index() int { s.next++; return s.next - 1 }

func (s *chatState) add(d chatDelta) error {
	if t := d.Reasoning + d.Thought; t != "" {
		if s.thinkAt < 0 {
			s.thinkAt = s.index()
		}
		s.reasoning.WriteString(t)
		s.emit(provider.Part{Index: s.thinkAt, Kind: provider.Reasoning, Delta: t})
	}
	s.details = append(s.details, d.Details...)
	if d.Refusal != "" {
		s.refused = true
	}
	if t := d.Content + d.Refusal; t != "" {
		if s.textAt < 0 {
			s.textAt = s.index()
		}
		s.text.WriteString(t)
		s.emit(provider.Part{Index: s.textAt, Kind: provider.Text, Delta: t})
	}
	for _, raw := range d.Calls {
		if err := s.call(raw); err != nil {
			return err
		}
	}
	return nil
}

func (s *chatState) call(raw json.RawMessage) error {
	var d struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	if err := decode(raw, &d); err != nil {
		return err
	}
	c := s.find(d.Index, d.ID)
	if d.ID != "" {
		c.id = d.ID
	}
	c.name += d.Function.Name
	c.args.WriteString(d.Function.Arguments)
	var fields map[string]json.RawMessage
	if err := decode(raw, &fields); err != nil {
		return err
	}
	for k, v := range fields {
		if k != "index" && k != "function" {
			c.fields[k] = v
		}
	}
	p := provider.Part{Index: c.at, Kind: provider.CallKind, Delta: d.Function.Arguments}
	if !c.told {
		c.told = true
		p.Call = &provider.Call{ID: c.id, Name: c.name}
	}
	s.emit(p)
	return nil
}

// find returns the call that a delta belongs to. Servers that send a call whole may leave the index out.
func (s *chatState) find(index *int, id string) *chatCall {
	for _, c := range s.calls {
		if (index != nil && c.index == *index) || (index == nil && id != "" && c.id == id) {
			return c
		}
	}
	c := &chatCall{at: s.index(), index: len(s.calls), fields: map[string]json.RawMessage{}}
	if index != nil {
		c.index = *index
	}
	s.calls = append(s.calls, c)
	return c
}

func (s *chatState) end(out *provider.Reply, finish string) {
	done := func(at int, b provider.Block) {
		out.Blocks = append(out.Blocks, b)
		s.emit(provider.Part{Index: at, Kind: b.Kind, Done: &b})
	}
	if s.thinkAt >= 0 {
		done(s.thinkAt, provider.Block{Kind: provider.Reasoning, Text: s.reasoning.String()})
	}
	if len(s.details) > 0 {
		raw, _ := json.Marshal(s.details) // raw JSON always encodes
		done(s.index(), provider.Block{Kind: provider.Opaque, Wire: Chat, Raw: raw})
	}
	if s.textAt >= 0 {
		done(s.textAt, provider.Block{Kind: provider.Text, Text: s.text.String()})
	}
	for _, c := range s.calls {
		done(c.at, c.block())
	}
	out.Stop = provider.StopEnd
	switch {
	case s.refused || finish == "content_filter":
		out.Stop = provider.StopRefusal
	case finish == "length":
		out.Stop = provider.StopLength
	case len(s.calls) > 0:
		out.Stop = provider.StopTools
	}
}

func (c *chatCall) block() provider.Block {
	call := provider.Call{ID: c.id, Name: c.name, Args: provider.ArgsOf(c.args.String())}
	fn, _ := json.Marshal(obj{"name": c.name, "arguments": string(call.Object())})
	c.fields["function"] = fn
	if _, ok := c.fields["type"]; !ok {
		c.fields["type"] = json.RawMessage(`"function"`)
	}
	raw, _ := json.Marshal(c.fields)
	return provider.Block{Kind: provider.CallKind, Call: &call, Wire: Chat, Raw: raw}
}
