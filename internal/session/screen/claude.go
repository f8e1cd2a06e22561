package screen

import (
	"regexp"
	"strings"
)

var (
	// The input box begins with a no-break space; echoed prompts and menus with a plain one.
	claudeBox     = lazily("^❯\u00a0")
	claudeRule    = lazily(`^─{20,}`)
	claudePrompt  = lazily(`^❯ \S`)
	claudeSpinner = lazily(`^[·✢✳✶✻✽*] \S+…( \(|$)`)
	claudeRetry   = lazily(`Retrying in \d+ ?s.* attempt \d+/\d+`)
	claudeError   = lazily(`^● (API Error|Please run /login)`)
	claudeBroken  = lazily(`^\s*⎿[\s\x{a0}]+Interrupted`)
	claudeAsk     = lazily(`^\s*Do you want to .*\?`)
	claudeEnd     = lazily(`Esc to (cancel|exit)`)
)

func claude(lines []string, title string) Reading {
	if i := last(lines, claudeBox()); i >= 0 && bottom(lines, i) {
		return claudeOpen(lines, i, title)
	}
	opts := menu(lines)
	r := Reading{Options: opts}
	tail := strings.Join(lines[max(len(lines)-40, 0):], "\n")
	switch {
	case opts != nil && strings.Contains(tail, "trust this folder"):
		r.State, r.Signal, r.Detail = Trust, "trust menu", find(lines, 40, regexp.MustCompile(`Quick safety check`))
	case opts != nil && strings.Contains(tail, "Bypass Permissions mode") && strings.Contains(tail, "Yes, I accept"):
		r.State, r.Signal = Bypass, "bypass menu"
	case opts != nil && strings.Contains(tail, "custom API key"):
		r.State, r.Signal = Key, "key menu"
	case opts != nil && strings.Contains(tail, "Enter to select · "):
		r.State, r.Signal, r.Detail = Question, "question menu", claudeQuestion(lines)
	case opts != nil && strings.Contains(tail, "Exit plan mode?"), opts != nil && strings.Contains(tail, "Would you like to proceed?"):
		r.State, r.Signal = Plan, "plan menu"
	case opts != nil && find(lines, 40, claudeAsk()) != "" && strings.HasPrefix(opts[0], "Yes"):
		r.State, r.Signal, r.Detail = Permission, "permission menu", find(lines, 40, claudeAsk())
	case len(lines) > 0 && claudeEnd().MatchString(strings.Join(lines[max(len(lines)-2, 0):], " ")):
		r.State, r.Signal = Dialog, "dialog footer"
	case braille(title):
		r.State, r.Signal = Working, "title"
	default:
		return Reading{State: Unknown, Signal: "nothing recognised"}
	}
	return r
}

// bottom tells whether the box at i is the real one: a rule follows, and then only a footer.
func bottom(lines []string, i int) bool {
	for j := i + 1; j < len(lines); j++ {
		if claudeRule().MatchString(lines[j]) {
			return len(lines)-j <= 4
		}
	}
	return false
}

// claudeOpen reads a screen on which the input box is open: the program works, or waits for a prompt.
func claudeOpen(lines []string, box int, title string) Reading {
	r := Reading{Draft: strings.TrimSpace(strings.TrimPrefix(lines[box], "❯\u00a0"))}
	above := lines[:box]
	if i := last(above, claudeRule()); i >= 0 {
		above = above[:i]
	}
	if i := last(above, claudePrompt()); i >= 0 {
		above = above[i:]
	}
	footer := strings.Join(lines[box+1:], " ")
	retry := find(above, 8, claudeRetry())
	switch {
	case retry != "":
		r.State, r.Detail, r.Signal = Retrying, retry, "retry line"
	case braille(title):
		r.State, r.Signal = Working, "title"
	case strings.Contains(footer, "esc to interrupt"):
		r.State, r.Signal = Working, "footer"
	case find(above, 8, claudeSpinner()) != "":
		r.State, r.Signal = Working, "spinner"
	default:
		r.State, r.Signal = Ready, "input box"
		if e := find(above, 12, claudeError()); e != "" {
			r.Outcome, r.Detail = Failed, strings.TrimPrefix(e, "● ")
		} else if find(above, 3, claudeBroken()) != "" {
			r.Outcome = Interrupted
		}
	}
	return r
}

var claudeHeader = lazily(`^\s*[☐☒✔] `)

// claudeQuestion is the first text below the question's header.
func claudeQuestion(lines []string) string {
	if i := last(lines, claudeHeader()); i >= 0 {
		for _, l := range lines[i+1:] {
			if strings.TrimSpace(l) != "" {
				return strings.TrimSpace(l)
			}
		}
	}
	return ""
}
