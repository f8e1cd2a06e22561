package mcpserver

import (
	"slices"
	"sort"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// sets are the few tools that one sort of work needs. A model reads every tool
// it is offered before it reads what it was asked to do.
var sets = map[string][]string{
	"bridge": {"open_session", "list_sessions", "send_to_session", "interrupt_session", "close_session", "relay"},
	"space": {"intandem_create", "intandem_join", "intandem_send", "intandem_board", "intandem_add_task", "intandem_claim_task",
		"intandem_unclaim_task", "intandem_update_task", "intandem_plan", "intandem_share", "intandem_set_var", "intandem_get_var",
		"intandem_activity_log", "intandem_peers", "intandem_rejoin", "intandem_leave", "intandem_inbox", "intandem_rename",
		"intandem_invite", "intandem_receipt", "intandem_spaces", "intandem_comment_task", "intandem_reopen_task"},
}

// all is the set with every tool of spaces and boards.
const all = "intandem"

type onlyKey struct{}

// selection is what a client wants to have of the tools; the zero selection is all of them.
type selection struct{ words []string }

// only reads a list of sets, nouns and tools. A word that means nothing is an error, for a list that is empty by a slip of
// the pen looks like a caller without rights.
func (s *Server) only(list string) (selection, error) {
	var out selection
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		one := selection{[]string{word}}
		if !slices.ContainsFunc(s.tools, one.has) {
			return out, fault.New(fault.Invalid, "mcp", "there are no tools called %.60q", word).
				WithNext("name sets (%s), or tools by their own names, with commas between them", strings.Join(s.words(), ", "))
		}
		out.words = append(out.words, word)
	}
	sort.Strings(out.words)
	out.words = slices.Compact(out.words)
	return out, nil
}

// words are the sets and nouns that can be asked for.
func (s *Server) words() []string {
	out := []string{"bridge", "space", all}
	for _, t := range s.tools {
		if n := noun(t.op); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func noun(o *op.Op) string { n, _, _ := strings.Cut(o.Name, "."); return n }

func (sel selection) key() string { return strings.Join(sel.words, ",") }

// has reports whether a tool answers here: also by a second name.
func (sel selection) has(t tool) bool {
	return len(sel.words) == 0 || slices.ContainsFunc(sel.words, func(w string) bool { return means(w, t.spec.Name, t.op) })
}

// lists reports whether a tool is shown: one that is asked for, and else each thing by its usual name.
func (sel selection) lists(name string, o *op.Op) bool {
	if name != o.ToolName() {
		return slices.Contains(sel.words, name)
	}
	return !o.Spare || len(sel.words) > 0
}

func means(word, name string, o *op.Op) bool {
	if word == name {
		return true
	}
	if set, ok := sets[word]; ok {
		return slices.Contains(set, o.ToolName())
	}
	return word == noun(o) || word == all && strings.HasPrefix(o.ToolName(), all+"_")
}
