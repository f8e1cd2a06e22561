package screen

import (
	"strings"
)

var (
	ocRetry  = lazily(`\[retrying (in .*)?attempt #\d+\]`)
	ocBusy   = lazily(`[■⬝]{4,}\s+(.*esc (again to )?interrupt)`)
	ocBox    = lazily(`^\s*╹▀{10,}`)
	ocBorder = lazily(`^\s*┃ ?`)
	ocTurn   = lazily(`^\s*▣ `)
	ocOption = lazily(`^(\d)\. (\S.*)$`)
)

// opencode reads a screen of OpenCode. Its title says nothing about its state.
func opencode(lines []string) Reading {
	tail := lines[max(len(lines)-16, 0):]
	all := strings.Join(tail, "\n")
	switch {
	case strings.Contains(all, "△ Permission required") && strings.Contains(all, "Allow once"):
		r := Reading{State: Permission, Signal: "permission panel", Options: []string{"Allow once", "Allow always", "Reject"}}
		for i, l := range tail {
			if strings.Contains(l, "△ Permission required") {
				r.Detail = ocText(tail[i+1:])
			}
		}
		return r
	case strings.Contains(all, "enter submit") && strings.Contains(all, "esc dismiss"):
		return ocQuestion(lines)
	}
	box := last(lines, ocBox())
	if box < 0 || len(lines)-box > 8 {
		return Reading{State: Unknown, Signal: "nothing recognised"}
	}
	footer := strings.Join(lines[box+1:], "\n")
	if m := ocRetry().FindString(footer); m != "" {
		return Reading{State: Retrying, Detail: strings.Trim(m, "[]"), Signal: "footer"}
	}
	if ocBusy().MatchString(footer) {
		return Reading{State: Working, Signal: "footer"}
	}
	r := Reading{State: Ready, Signal: "input box", Draft: ocDraft(lines[:box])}
	if i := last(lines[:box], ocTurn()); i >= 0 {
		switch {
		case strings.HasSuffix(lines[i], "· interrupted"):
			r.Outcome = Interrupted
		case !ocTimed().MatchString(lines[i]) && i > 2:
			// A turn that ends without its duration failed; the error stands in the panel above.
			r.Outcome, r.Detail = Failed, ocLastPanel(lines[:i])
		}
	}
	return r
}

var ocTimed = lazily(`· ([\dhm ]+ )?[\d.]+s$`)

// ocText is the first text of a panel.
func ocText(lines []string) string {
	for _, l := range lines {
		if s := strings.TrimSpace(ocBorder().ReplaceAllString(l, "")); s != "" {
			return strings.TrimPrefix(s, "# ")
		}
	}
	return ""
}

func ocLastPanel(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(ocBorder().ReplaceAllString(lines[i], "")); s != "" {
			return s
		}
	}
	return ""
}

// ocDraft is what stands in the input box above its last line, which names agent and model.
func ocDraft(lines []string) string {
	var said []string
	for i := len(lines) - 2; i >= 0 && ocBorder().MatchString(lines[i]); i-- {
		if s := strings.TrimSpace(ocBorder().ReplaceAllString(lines[i], "")); s != "" {
			said = append([]string{s}, said...)
		}
	}
	draft := strings.Join(said, "\n")
	if strings.HasPrefix(draft, "Ask anything…") {
		return ""
	}
	return draft
}

func ocQuestion(lines []string) Reading {
	r := Reading{State: Question, Signal: "question panel"}
	var panel []string
	for i := len(lines) - 1; i >= 0 && ocBorder().MatchString(lines[i]); i-- {
		panel = append([]string{strings.TrimSpace(ocBorder().ReplaceAllString(lines[i], ""))}, panel...)
	}
	for _, l := range panel {
		if m := ocOption().FindStringSubmatch(l); m != nil {
			r.Options = append(r.Options, m[2])
		} else if r.Detail == "" && l != "" {
			r.Detail = l
		}
	}
	return r
}
