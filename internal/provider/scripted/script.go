package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

// Script is what the server plays.
type Script struct {
	Rules []Rule `json:"rules"`
}

// Rule is played for requests that match all of its conditions. The first rule that matches wins.
type Rule struct {
	// Prompt is a regular expression on the newest prompt, System on the system text, Model on the model's name.
	Prompt string `json:"prompt,omitempty"`
	System string `json:"system,omitempty"`
	Model  string `json:"model,omitempty"`
	Wire   string `json:"wire,omitempty"`
	// Tool wants a tool of this name to be offered.
	Tool  string `json:"tool,omitempty"`
	Turns []Turn `json:"turns"`
}

// Turn is one reply: its steps in order.
type Turn []Step

// Step is one piece of a reply. Exactly one of the fields that say what happens is set.
type Step struct {
	Say   string `json:"say,omitempty"`
	Think string `json:"think,omitempty"`
	// Tool names a tool, or is /a regular expression/ over the offered ones.
	Tool string          `json:"tool,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
	// Slow says a text in pieces that take this many seconds together.
	Slow float64 `json:"slow,omitempty"`
	// Result echoes the results of the tools of the last round.
	Result bool `json:"result,omitempty"`
	// Error answers with this HTTP status; Times > 0 does so only the first times for a prompt.
	Error      int     `json:"error,omitempty"`
	Times      int     `json:"times,omitempty"`
	RetryAfter float64 `json:"retry_after,omitempty"` // seconds
	// StreamError breaks an open stream with the wire's own error event.
	StreamError string `json:"stream_error,omitempty"`
	// Hang sends nothing more for so many seconds (or until the client goes), then cuts.
	Hang float64 `json:"hang,omitempty"`
	// Drop cuts the connection.
	Drop bool `json:"drop,omitempty"`
	// Stop overrides why the reply ends: length or refusal.
	Stop string `json:"stop,omitempty"`
}

// Check tells what is wrong with a script before anything plays it.
func (s Script) Check() error {
	for i, r := range s.Rules {
		for _, re := range []string{r.Prompt, r.System, r.Model} {
			if _, err := regexp.Compile(re); err != nil {
				return fmt.Errorf("rule %d: %w", i+1, err)
			}
		}
		if len(r.Turns) == 0 {
			return fmt.Errorf("rule %d has no turns", i+1)
		}
		for _, t := range r.Turns {
			for _, st := range t {
				if len(st.Args) > 0 && !json.Valid(st.Args) {
					return fmt.Errorf("rule %d: the arguments of %s are not JSON", i+1, st.Tool)
				}
			}
		}
	}
	return nil
}

func (r Rule) matches(q *Request) bool {
	if r.Wire != "" && r.Wire != q.Wire {
		return false
	}
	for _, c := range []struct{ re, s string }{{r.Prompt, q.Prompt}, {r.System, q.System}, {r.Model, q.Model}} {
		if c.re != "" && !regexp.MustCompile(c.re).MatchString(c.s) {
			return false
		}
	}
	if r.Tool == "" {
		return true
	}
	for _, t := range q.Tools {
		if t == r.Tool {
			return true
		}
	}
	return false
}

// turn picks what to play for a request: a rule's turn, a directive of the prompt, or an echo.
func (s Script) turn(q *Request) Turn {
	for _, r := range s.Rules {
		if r.matches(q) {
			return pick(r.Turns, q.Call)
		}
	}
	turns, err := directives(q.Prompt)
	switch {
	case err != nil:
		return Turn{{Say: "script error: " + err.Error()}}
	case len(turns) == 0:
		return Turn{{Say: "echo: " + q.Prompt}}
	case len(q.Tools) == 0:
		// A side call (a title, a summary): it carries the prompt but must not play its tools and errors.
		return Turn{{Say: "a title"}}
	}
	return pick(turns, q.Call)
}

func pick(turns []Turn, call int) Turn {
	if call < len(turns) {
		return turns[call]
	}
	return Turn{{Say: "DONE"}}
}

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
