package wire

import "tandem/internal/op"

// Draft is a definition that a model writes from a sentence.
const Draft = op.Def[DraftIn, *Drafted]("automation.draft")

// DraftIn is what somebody wants, in their own words.
type DraftIn struct {
	Text   string  `json:"text" jsonschema:"what it is to do and when, in a sentence or some"`
	Name   string  `json:"name,omitempty" jsonschema:"of an automation that is to be changed; a new one when left out"`
	Model  string  `json:"model,omitempty" jsonschema:"as provider/model; the default one when left out"`
	Tokens int64   `json:"tokens,omitempty" jsonschema:"at most so many tokens, 50000 when left out"`
	Cost   float64 `json:"cost,omitempty" jsonschema:"at most so many US dollars, 1 when left out, where the model's price is known"`
}

// Drafted is the version that was stored, switched off, and what it cost to write.
type Drafted struct {
	Version
	Session string  `json:"session" jsonschema:"in which a model wrote it"`
	Tokens  int64   `json:"tokens"`
	Cost    float64 `json:"cost,omitempty" jsonschema:"in US dollars, where the model's price is known"`
}
