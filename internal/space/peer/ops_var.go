package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// Limits of a variable.
const (
	MaxVarKey   = 100
	MaxVarValue = 5000
)

// SetVarIn sets a variable.
type SetVarIn struct {
	Key   string `json:"key" jsonschema:"at most 100 characters"`
	Value string `json:"value" jsonschema:"at most 5000 characters; empty deletes the variable"`
	Which
}

func (r *Room) opSetVar(ctx context.Context, in SetVarIn) (Said, error) {
	switch n := len([]rune(in.Key)); {
	case n == 0 || n > MaxVarKey || in.Key == "*":
		return Said{}, fault.New(fault.Invalid, "space.set_var", "a variable's key has 1 to %d characters and is not *", MaxVarKey)
	case len([]rune(in.Value)) > MaxVarValue:
		return Said{}, fault.New(fault.Invalid, "space.set_var", "a variable's value has at most %d characters, this one %d", MaxVarValue,
			len([]rune(in.Value))).
			WithNext("share it as a file piece with intandem_share")
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	stale := ""
	if in.Value == "" {
		stale = r.fresh(ctx, s)
	}
	if in.Value == "" && stale == "" && !s.hasVar(in.Key) {
		return Said{}, fault.New(fault.NotFound, "space.set_var", "Variable %q not found.", clip(in.Key)).
			WithNext("nothing was deleted; list all of them with key=*")
	}
	c := space.VarClear{Tag: s.sec.Space.Tag("var", in.Key), Delete: in.Value == ""}
	a, queued, err := r.sendOrQueue(ctx, s, thing{class: space.ClassVar, clear: c, content: Variable{Key: in.Key, Value: in.Value}})
	if err != nil {
		return Said{}, s.named(err)
	}
	out := Said{ID: a.ID, State: "stored", Text: fmt.Sprintf("Set variable %q = %q", escape(in.Key), clip(escape(in.Value)))}
	switch {
	case c.Delete && stale != "" && !s.hasVar(in.Key):
		out.Text = fmt.Sprintf("Variable %q is not known here. If others set it meanwhile, it is deleted.", escape(in.Key))
	case c.Delete:
		out.Text = fmt.Sprintf("Deleted variable %q", escape(in.Key))
	}
	if queued {
		out.State = "queued"
		out.Text += "\nThe host cannot be reached; peers see it when it is back."
	}
	return r.withMail(ctx, s, out)
}

// hasVar says whether a variable is set, as far as is known here.
func (s *seat) hasVar(key string) bool {
	for _, v := range s.vars {
		if v.Key == key {
			return true
		}
	}
	return false
}

// GetVarIn names a variable.
type GetVarIn struct {
	Key string `json:"key" jsonschema:"the variable's key, or * for all"`
	Which
}

// Vars are variables.
type Vars struct {
	Said
	Vars []Variable `json:"vars"`
}

func (r *Room) opGetVar(ctx context.Context, in GetVarIn) (Vars, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Vars{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	out := Vars{Vars: []Variable{}}
	for _, v := range s.vars {
		if in.Key == "*" || v.Key == in.Key {
			v.By = s.name(seal.MemberID(v.By))
			out.Vars = append(out.Vars, v)
		}
	}
	slices.SortFunc(out.Vars, func(a, b Variable) int { return strings.Compare(a.Key, b.Key) })
	switch {
	case len(out.Vars) == 0 && in.Key == "*":
		out.Text = "No workspace variables set."
	case len(out.Vars) == 0:
		return out, fault.New(fault.NotFound, "space.get_var", "Variable %q not found.", clip(in.Key)).WithNext("list all of them with key=*")
	case in.Key == "*":
		out.Text = "Workspace variables:"
	}
	for _, v := range out.Vars {
		line := fmt.Sprintf("%s = %s (set by %s)", escape(v.Key), escape(v.Value), escape(v.By))
		if in.Key == "*" {
			line = "\n  " + line
		}
		out.Text += line
	}
	if stale != "" {
		out.Text += "\nNot up to date: " + stale
	}
	return out, nil
}
