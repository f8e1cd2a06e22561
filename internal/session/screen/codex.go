package screen

import (
	"strings"
)

var (
	codexBox     = lazily(`^› `)
	codexWorking = lazily(`^\s*[•◦] .*\(.*esc to interrupt\)`)
	codexRetry   = lazily(`(?i)(reconnecting|retrying).*\d+/\d+`)
	codexAsk     = lazily(`^\s*Would you like to .*\?`)
	codexError   = lazily(`^■ `)
)

// codexIdle is what stands in an empty input box; it is not a draft.
const codexIdle = "Ask Codex to do anything"

func codex(lines []string, title string) Reading {
	tail := strings.Join(lines[max(len(lines)-30, 0):], "\n")
	opts := menu(lines)
	if opts != nil && codexMenuOpen(lines) {
		r := Reading{State: Dialog, Signal: "menu", Options: opts}
		switch {
		case strings.Contains(lines[len(lines)-1], "enter to submit answer"):
			r.State, r.Signal, r.Detail = Question, "question menu", codexQuestion(lines)
		case find(lines, 40, codexAsk()) != "":
			r.State, r.Signal, r.Detail = Permission, "approval menu", find(lines, 40, codexAsk())
		case strings.Contains(tail, "Sign in with"):
			r.State, r.Signal = SignIn, "sign-in menu"
		case strings.Contains(tail, "trust the contents"), strings.Contains(tail, "Trust this folder"),
			strings.Contains(tail, "rust this directory"),
			strings.Contains(tail, "Folder access"):
			r.State, r.Signal = Trust, "trust menu"
		}
		return r
	}
	if strings.HasPrefix(title, "[") && strings.Contains(title, "Action Required") {
		return Reading{State: Permission, Signal: "title"}
	}
	i := last(lines, codexBox())
	if i < 0 || len(lines)-i > 8 {
		if braille(title) {
			return Reading{State: Working, Signal: "title"}
		}
		return Reading{State: Unknown, Signal: "nothing recognised"}
	}
	r := Reading{Draft: strings.TrimSpace(strings.TrimPrefix(lines[i], "› "))}
	if r.Draft == codexIdle {
		r.Draft = ""
	}
	above := lines[:i]
	if j := last(above, codexBox()); j >= 0 {
		above = above[j+1:]
	}
	switch {
	case codexLoads(lines):
		r.State, r.Signal = Working, "loading header"
	case find(above, 6, codexRetry()) != "":
		r.State, r.Detail, r.Signal = Retrying, find(above, 6, codexRetry()), "retry line"
	case braille(title):
		r.State, r.Signal = Working, "title"
	case find(above, 6, codexWorking()) != "":
		r.State, r.Signal = Working, "working line"
	default:
		r.State, r.Signal = Ready, "input box"
		switch e := strings.TrimPrefix(find(above, 12, codexError()), "■ "); {
		case strings.HasPrefix(e, "Conversation interrupted"):
			r.Outcome = Interrupted
		case e != "":
			r.Outcome, r.Detail = Failed, e
		}
	}
	return r
}

// codexLoads says that the program has drawn its input box and does not have its conversation yet.
func codexLoads(lines []string) bool {
	for i, l := range lines[:len(lines)-1] {
		if strings.Contains(l, ">_ OpenAI Codex") {
			return strings.TrimSpace(lines[i+1]) == "loading"
		}
	}
	return false
}

// codexQuestion is the text below the question's header.
func codexQuestion(lines []string) string {
	for i := len(lines) - 2; i >= 0; i-- {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "Question ") {
			return strings.TrimSpace(lines[i+1])
		}
	}
	return ""
}

// codexMenuOpen tells a menu from an input box: below a menu's entries stands only a line that says how to answer.
func codexMenuOpen(lines []string) bool {
	end := strings.ToLower(strings.TrimSpace(lines[len(lines)-1]))
	return strings.HasPrefix(end, "press enter") || strings.Contains(end, "enter continue") || strings.Contains(end, "enter to confirm") ||
		strings.Contains(end, "enter to submit answer") || strings.Contains(end, "enter confirm") || strings.Contains(end, "esc to cancel")
}
