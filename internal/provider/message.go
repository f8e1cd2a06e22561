package provider

import "encoding/json"

// Role says who speaks in a message. The system text is a field of the request, not a message.
type Role string

// The two speakers of a conversation. Results of tools are spoken by the user's side.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Kind says what a block of a message is.
type Kind string

// The kinds of blocks.
const (
	Text      Kind = "text"
	Reasoning Kind = "reasoning"
	ImageKind Kind = "image"
	CallKind  Kind = "call"
	ResultOf  Kind = "result"
	// Opaque is a block that only its own wire understands (for example redacted reasoning): it is kept and sent
	// back there, and left out everywhere else.
	Opaque Kind = "opaque"
)

// Message is one contribution to the conversation.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Block is one piece of a message. Which fields are set follows from Kind.
type Block struct {
	Kind   Kind    `json:"kind"`
	Text   string  `json:"text,omitempty"`
	Image  *Image  `json:"image,omitempty"`
	Call   *Call   `json:"call,omitempty"`
	Result *Result `json:"result,omitempty"`
	// Wire names the format of Raw, and Raw is the block as the provider sent it.
	Wire string          `json:"wire,omitempty"`
	Raw  json.RawMessage `json:"raw,omitempty"`
}

// Image is a picture, by value or by address.
type Image struct {
	Mime string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Call is the model's wish to use a tool. Args is a JSON object, or a JSON string that holds what the model wrote when
// that was no JSON object: whoever runs the call tells the model so instead of guessing.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// ArgsOf makes the arguments of a call from the text that arrived.
func ArgsOf(text string) json.RawMessage {
	var m map[string]json.RawMessage
	if text == "" {
		return json.RawMessage(`{}`)
	}
	if json.Unmarshal([]byte(text), &m) == nil && m != nil {
		return json.RawMessage(text)
	}
	b, _ := json.Marshal(text) // a string always encodes
	return b
}

// Object is Args as an object for wires that accept nothing else.
func (c Call) Object() json.RawMessage {
	if len(c.Args) > 0 && c.Args[0] == '"' {
		return json.RawMessage(`{}`)
	}
	return c.Args
}

// Result answers a call.
type Result struct {
	CallID string  `json:"call_id"`
	Name   string  `json:"name,omitempty"`
	Text   string  `json:"text"`
	Images []Image `json:"images,omitempty"`
	Error  bool    `json:"error,omitempty"`
}

// TextMessage is the shortest message: one speaker, one text.
func TextMessage(r Role, text string) Message {
	return Message{Role: r, Blocks: []Block{{Kind: Text, Text: text}}}
}

// Tool describes to the model something it may ask for. Schema is the JSON Schema of the arguments, an object.
type Tool struct {
	Name   string          `json:"name"`
	Doc    string          `json:"doc"`
	Schema json.RawMessage `json:"schema"`
}

// Choice says how freely the model may use the offered tools.
type Choice string

// How tools may be used. Auto is the zero value.
const (
	Auto     Choice = ""
	None     Choice = "none"
	Required Choice = "required"
)

// Request is everything one call sends.
type Request struct {
	Model    string    `json:"model"`
	System   string    `json:"system,omitempty"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools,omitempty"`
	Choice   Choice    `json:"choice,omitempty"`
	// MaxTokens bounds the reply; zero takes the client's default.
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	// Effort asks for reasoning: "", "low", "medium" or "high".
	Effort string `json:"effort,omitempty"`
	// Cache marks the stable prefix (tools, system, all but the newest message) as worth keeping at the provider.
	Cache bool `json:"cache,omitempty"`
	// CacheKey groups calls that share a prefix, where the wire has a field for it. A session's id is a good one.
	CacheKey string `json:"cache_key,omitempty"`
}
