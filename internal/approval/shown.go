package approval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// showable refuses, unasked, what nobody could look at whole: an answer to its beginning would approve its end.
func (c Call) showable() error {
	switch {
	case len(c.Command) > MaxCommand:
		return fault.New(fault.Invalid, c.Op, "this needs an approval, and a command of %d bytes is longer than a person is asked to read (%d)",
			len(c.Command), MaxCommand).
			WithNext("put it into a file that can be looked at, and run that")
	case len(c.Input) > MaxShown:
		return fault.New(fault.Invalid, c.Op, "this needs an approval, and its %d bytes are more than a person can be shown (%d)", len(c.Input),
			MaxShown).
			WithNext("do it in smaller steps")
	}
	return nil
}

// unseen tells whether of a call's arguments only the beginning was kept, as programs before this one did.
func unseen(in json.RawMessage) bool {
	var cut struct {
		TooLarge bool `json:"too_large_to_show"`
		Begins   *string
	}
	return json.Unmarshal(in, &cut) == nil && cut.TooLarge && cut.Begins != nil
}

func orNothing(in json.RawMessage) json.RawMessage {
	if len(in) == 0 {
		return json.RawMessage("{}")
	}
	return in
}

// listed is the ask as a list carries it: one huge ask must not slow a page down.
func (a *Ask) listed() *Ask {
	b := *a
	b.Title, b.Bound = title(a), bindings(a.Bound)
	if len(a.Input) > MaxListed {
		b.Input, b.Cut = json.RawMessage("{}"), true
	}
	return &b
}

// bindings leaves out what is only there to be looked at by those who decide: lists stay short, and an asker who may not see a
// file is not shown how it changes.
func bindings(bound []op.Bound) []op.Bound {
	return slices.DeleteFunc(slices.Clone(bound), func(b op.Bound) bool { return b.Shown })
}

// maxTitle is how many characters say what an ask is about.
const maxTitle = 120

// title says in a line what would be done. A command is its own title; everything else is the operation and what it touches.
func title(a *Ask) string {
	text := strings.TrimSpace(a.Op + " " + a.Resource)
	if line := command(a.Input); line != "" {
		text = line
	} else if line := file(a.Input); line != "" {
		text = line
	} else if line := question(a.Input); line != "" {
		text = line
	} else if a.Op == "join.enter" {
		text += request(a.Input)
	}
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= maxTitle {
		return string(runes)
	}
	return fmt.Sprintf("%s… (%d characters)", string(runes[:maxTitle]), len(runes))
}

// file is a program's tool and the file that it would work on.
func file(in json.RawMessage) string {
	var a struct {
		Tool  string
		Input struct {
			File     string `json:"file_path"`
			Notebook string `json:"notebook_path"`
			Changes  []struct{ Path string }
		}
	}
	if json.Unmarshal(in, &a) != nil || a.Tool == "" {
		return ""
	}
	paths := []string{a.Input.File, a.Input.Notebook}
	for _, c := range a.Input.Changes {
		paths = append(paths, c.Path)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == "" })
	if len(paths) == 0 {
		return ""
	}
	return a.Tool + " " + strings.Join(paths, ", ")
}

// request is the key by which a person knows whose request to join this is: whoever asks has it on the screen.
func request(in json.RawMessage) string {
	var a struct{ Key string }
	if json.Unmarshal(in, &a) != nil || a.Key == "" {
		return ""
	}
	return ", request " + a.Key
}

// question is what a gate of an automation asks.
func question(in json.RawMessage) string {
	var a struct{ Run, Node, Text string }
	if json.Unmarshal(in, &a) != nil || a.Run == "" || a.Node == "" || a.Text == "" {
		return ""
	}
	return a.Node + ": " + a.Text
}

// command is the shell line in a call's arguments, which a tool's call carries one level down.
func command(in json.RawMessage) string {
	var a struct {
		Command                string
		Args, Arguments, Input struct{ Command string }
	}
	if json.Unmarshal(in, &a) != nil {
		var only struct{ Command string }
		_ = json.Unmarshal(in, &only) // an input of another form has no command
		return only.Command
	}
	for _, c := range []string{a.Command, a.Args.Command, a.Arguments.Command, a.Input.Command} {
		if c != "" {
			return c
		}
	}
	return ""
}
