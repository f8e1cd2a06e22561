package peer

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/fault"
)

// Limits of a task's labels.
const (
	MaxLabels = 20
	MaxLabel  = 50
)

// checkLabels are labels as they are kept: without blanks around them, each once.
func checkLabels(given []string) ([]string, error) {
	for i, l := range given {
		switch {
		case !isLabel(strings.TrimSpace(l)):
			return nil, fault.New(fault.Invalid, "board.label", "%q is no label: it has 1 to %d characters, and no comma among them", clip(l),
				MaxLabel)
		case i >= MaxLabels:
			return nil, fault.New(fault.Invalid, "board.label", "a task has at most %d labels, not %d", MaxLabels, len(given))
		}
	}
	return labelled(nil, given), nil
}

func isLabel(l string) bool {
	return l != "" && len([]rune(l)) <= MaxLabel && !strings.ContainsFunc(l, func(r rune) bool { return r == ',' || !unicode.IsGraphic(r) })
}

// asLabel makes a label of what was one elsewhere; "" where nothing is left of it.
func asLabel(l string) string {
	l = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == ',' || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, l)), " ")
	if all := []rune(l); len(all) > MaxLabel {
		l = strings.TrimSpace(string(all[:MaxLabel]))
	}
	return l
}

// hasLabel says whether a label is among others. Case makes no other label.
func hasLabel(labels []string, label string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, label) })
}

// labelled are labels with more of them. Members send what they like, so what is none, and what is too much, is left out.
func labelled(have, more []string) []string {
	out := slices.Clone(have)
	for _, l := range more {
		if l = strings.TrimSpace(l); isLabel(l) && !hasLabel(out, l) && len(out) < MaxLabels {
			out = append(out, l)
		}
	}
	return out
}

// unlabelled are labels without some of them.
func unlabelled(have, less []string) []string {
	return slices.DeleteFunc(slices.Clone(have), func(l string) bool {
		return slices.ContainsFunc(less, func(gone string) bool { return strings.EqualFold(l, strings.TrimSpace(gone)) })
	})
}
