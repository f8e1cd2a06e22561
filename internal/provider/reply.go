package provider

import "strings"

// Stop says why the model stopped speaking.
type Stop string

// Why a reply ended. An empty Stop belongs to a reply that was cut.
const (
	StopEnd     Stop = "end"     // it said all it wanted
	StopTools   Stop = "tools"   // it waits for results of tools
	StopLength  Stop = "length"  // the limit of tokens was reached
	StopRefusal Stop = "refusal" // the model or a filter refused
	StopPause   Stop = "pause"   // the provider paused a long reply, which is not whole
)

// Usage counts tokens. Input is what was neither read from nor written to a cache, so the four numbers that are
// charged (Input, CacheRead, CacheWrite, Output) never count a token twice. Reasoning is a part of Output.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// Total is every token that was charged.
func (u Usage) Total() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Reasoning + v.Reasoning}
}

// Reply is what one call brought. When Stream also returned an error, the reply holds what had arrived until then;
// a block that had not been finished is left out.
type Reply struct {
	ID     string  `json:"id,omitempty"`    // the provider's name for this reply
	Model  string  `json:"model,omitempty"` // the model that really answered
	Blocks []Block `json:"blocks"`
	Usage  Usage   `json:"usage"`
	Stop   Stop    `json:"stop,omitempty"`
}

// Message is the reply as a contribution to the conversation.
func (r Reply) Message() Message { return Message{Role: Assistant, Blocks: r.Blocks} }

// Text joins the texts of the reply.
func (r Reply) Text() string {
	var b strings.Builder
	for _, bl := range r.Blocks {
		if bl.Kind == Text {
			b.WriteString(bl.Text)
		}
	}
	return b.String()
}

// Calls lists the tools that the reply asks for, in order.
func (r Reply) Calls() []Call {
	var out []Call
	for _, bl := range r.Blocks {
		if bl.Kind == CallKind {
			out = append(out, *bl.Call)
		}
	}
	return out
}

// Part is one step of a reply's arrival: a piece of text, of reasoning or of a call's arguments. Index counts the
// blocks of the reply; Done marks the end of the block and carries it whole.
type Part struct {
	Index int
	Kind  Kind
	Delta string
	// Call is set on the first part of a call, with ID and Name; its arguments follow as deltas.
	Call *Call
	Done *Block
}
