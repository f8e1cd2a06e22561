package jj

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// helpSource holds what help says, by command. A section starts with the
// command in brackets, then what it does in one line, then paragraphs for the
// long help, then its options and arguments behind a star, each with more for
// the long help indented below. What several commands share is in [*].
//
//go:embed help/commands.txt
var helpSource string

// helpBook is the words for all commands.
type helpBook struct{ sections map[string]*helpWords }

// helpWords is what help says about one command.
type helpWords struct {
	about   string
	more    []string
	entries map[string]helpEntry
	shared  *helpWords
}

// helpEntry is what help says about one option.
type helpEntry struct {
	text  string
	notes []string // in brackets: defaults and other names
	more  []string
}

var helpTexts = sync.OnceValue(func() *helpBook { return readHelp(helpSource) })

var helpNotes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`( \[(default|alias|aliases|possible values): [^\]]*\])+$`)
})

func readHelp(source string) *helpBook {
	book := &helpBook{sections: map[string]*helpWords{}}
	var at *helpWords
	key := ""
	for _, line := range strings.Split(source, "\n") {
		switch {
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			at, key = &helpWords{entries: map[string]helpEntry{}}, ""
			book.sections[line[1:len(line)-1]] = at
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "* "):
			name, text, _ := strings.Cut(line[2:], ": ")
			e := helpEntry{text: text}
			if notes := helpNotes().FindString(text); notes != "" {
				e.text = strings.TrimSuffix(text, notes)
				e.notes = strings.SplitAfter(strings.TrimSpace(notes), "] ")
				for i, n := range e.notes {
					e.notes[i] = strings.TrimSpace(n)
				}
			}
			key, at.entries[name] = name, e
		case key != "":
			e := at.entries[key]
			e.more = append(e.more, strings.TrimSpace(line))
			at.entries[key] = e
		case at.about == "":
			at.about = line
		default:
			at.more = append(at.more, line)
		}
	}
	for _, s := range book.sections {
		s.shared = book.sections["*"]
	}
	return book
}

// of gives the words for a command; those that all share for nil.
func (b *helpBook) of(path []*command) *helpWords {
	if path == nil {
		return b.sections["*"]
	}
	name := strings.TrimSpace(strings.TrimPrefix(pathName(path), path[0].name))
	if w := b.sections[name]; w != nil {
		return w
	}
	return &helpWords{shared: b.sections["*"]}
}

// helpKey is an option's name in the texts.
func (o *opt) helpKey() string {
	if o.pos || o.long == "" {
		return o.value
	}
	return "--" + o.long
}

func (w *helpWords) entry(o *opt) helpEntry {
	if e, ok := w.entries[o.helpKey()]; ok {
		return e
	}
	if w.shared != nil {
		return w.shared.entries[o.helpKey()]
	}
	return helpEntry{}
}
