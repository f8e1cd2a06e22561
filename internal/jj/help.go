package jj

import (
	"slices"
	"strings"
)

// helpFor is the help of a command: short for -h, long for --help. It has the
// form that clap gives it.
func helpFor(path []*command, long bool, width int) string {
	c := path[len(path)-1]
	words := helpTexts()
	h := &helpWriter{long: long, width: width, words: words.of(path)}
	about := h.words.about
	if long && len(h.words.more) > 0 {
		about += "\n\n" + strings.Join(h.words.more, "\n\n")
	}
	h.b.WriteString(wrapHelp(about, "", h.width) + "\n\n" + usage(path) + "\n")
	h.commands(path, words)
	positional, own, diffs := c.shown()
	global, help := sharedOptions()
	if len(path) == 1 {
		own = append([]*opt{help}, own...)
	} else {
		own = append(own, help)
	}
	h.section("Arguments", positional)
	h.section("Options", own)
	h.section("Diff Formatting Options", diffs)
	h.words = words.of(nil)
	h.section("Global Options", global)
	return h.b.String()
}

// shown is the arguments and options of a command that people are told of;
// those about formats of diffs apart.
func (c *command) shown() (positional, own, diffs []*opt) {
	for i := range c.opts {
		o := &c.opts[i]
		switch {
		case o.hidden, o.long == "" && !o.pos: // another way to give an argument
		case o.pos:
			positional = append(positional, o)
		case o.diff:
			diffs = append(diffs, o)
		default:
			own = append(own, o)
		}
	}
	return positional, own, diffs
}

// sharedOptions are the options of all commands; help stands apart.
func sharedOptions() (global []*opt, help *opt) {
	last := len(globalOpts) - 1
	for i := range globalOpts[:last] {
		global = append(global, &globalOpts[i])
	}
	return global, &globalOpts[last]
}

// helpWidth is how wide help may be.
func (u *ui) helpWidth() int {
	if u.io.getenv("COLUMNS") == "" && !isTerminal(u.io.Stdout) {
		return 100
	}
	return u.width()
}

type helpWriter struct {
	b     strings.Builder
	long  bool
	width int
	words *helpWords
}

// commands lists the commands below one.
func (h *helpWriter) commands(path []*command, words *helpBook) {
	var names, texts []string
	for _, s := range path[len(path)-1].subs {
		if s.hidden {
			continue
		}
		text := words.of(append(slices.Clone(path), s)).about
		switch len(s.alias) {
		case 0:
		case 1:
			text += " [alias: " + s.alias[0] + "]"
		default:
			text += " [aliases: " + strings.Join(s.alias, ", ") + "]"
		}
		names, texts = append(names, "  "+s.name), append(texts, text)
	}
	if len(names) > 0 {
		h.b.WriteString("\nCommands:\n")
		h.columns(names, texts)
	}
}

// section lists options below a heading.
func (h *helpWriter) section(title string, opts []*opt) {
	if len(opts) == 0 {
		return
	}
	h.b.WriteString("\n" + title + ":\n")
	var names, texts []string
	for i, o := range opts {
		e := h.words.entry(o)
		if o.id == "help" {
			e = helpEntry{text: "Show help (more of it with '--help')"}
			if h.long {
				e.text = "Show help (less of it with '-h')"
			}
		}
		if o.values != nil {
			e.notes = append(e.notes, "[possible values: "+strings.Join(o.values, ", ")+"]")
		}
		if !h.long {
			names, texts = append(names, o.signature()), append(texts, strings.Join(append([]string{e.text}, e.notes...), " "))
			continue
		}
		if i > 0 {
			h.b.WriteString("\n")
		}
		h.b.WriteString(o.signature() + "\n")
		text := strings.Join(append([]string{e.text}, e.more...), "\n\n")
		if len(e.notes) > 0 {
			text += "\n\n" + strings.Join(e.notes, "\n")
		}
		h.b.WriteString(wrapHelp(text, strings.Repeat(" ", 10), h.width) + "\n")
	}
	h.columns(names, texts)
}

// signature is an option as help shows it.
func (o *opt) signature() string {
	switch {
	case o.pos:
		return "  " + o.display()
	case o.short != "" && o.long != "":
		return "  -" + o.short + ", " + o.display()
	case o.long == "":
		return "  " + o.display()
	}
	return "      " + o.display()
}

// columns writes names and texts beside them, or below where they would be too
// narrow.
func (h *helpWriter) columns(names, texts []string) {
	w := 0
	for _, n := range names {
		w = max(w, len([]rune(n)))
	}
	below := false
	for _, t := range texts {
		below = below || 5*(w+2) > 2*h.width && len(t) > h.width-w-2
	}
	for i, n := range names {
		if below {
			h.b.WriteString(n + "\n" + wrapHelp(texts[i], strings.Repeat(" ", 10), h.width) + "\n")
			continue
		}
		pad := strings.Repeat(" ", w+2)
		body := strings.TrimPrefix(wrapHelp(texts[i], pad, h.width), pad)
		h.b.WriteString(strings.TrimRight(n+pad[len([]rune(n)):]+body, " ") + "\n")
	}
}

// wrapHelp breaks text into lines that fit, each behind an indent. Lines that
// are indented themselves are left alone.
func wrapHelp(text, indent string, width int) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "  ") {
			out = append(out, indent+line)
			continue
		}
		at := indent
		for _, word := range strings.Fields(line) {
			if at != indent && len([]rune(at))+1+len([]rune(word)) > width {
				out = append(out, at)
				at = indent
			}
			if at != indent {
				at += " "
			}
			at += word
		}
		if strings.TrimSpace(at) == "" {
			at = ""
		}
		out = append(out, at)
	}
	return strings.Join(out, "\n")
}
