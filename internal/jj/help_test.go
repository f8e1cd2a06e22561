package jj

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/internal/repo/stocktest"
)

// eachCommand visits all commands that help shows.
func eachCommand(path []*command, visit func([]*command)) {
	visit(path)
	for _, c := range path[len(path)-1].subs {
		if !c.hidden {
			eachCommand(append(slices.Clone(path), c), visit)
		}
	}
}

// TestHelpIsWhole: there are words for every command and option, and none for
// what is not there.
func TestHelpIsWhole(t *testing.T) {
	book := readHelp(helpSource)
	used := map[string]bool{}
	absent := []string{}
	eachCommand([]*command{commandTree()}, func(path []*command) {
		name := strings.TrimSpace(strings.TrimPrefix(pathName(path), "jj"))
		if path[len(path)-1].absent {
			absent = append(absent, name)
			return
		}
		words := book.of(path)
		if words.about == "" {
			t.Errorf("[%s] is not explained", name)
		}
		used["["+name+"]"] = true
		c := path[len(path)-1]
		for i := range c.opts {
			o := &c.opts[i]
			used["["+name+"] "+o.helpKey()], used["[*] "+o.helpKey()] = true, true
			if !o.hidden && words.entry(o).text == "" {
				t.Errorf("[%s] %s is not explained", name, o.helpKey())
			}
		}
	})
	for i := range globalOpts {
		used["[*] "+globalOpts[i].helpKey()] = true
	}
	for name, words := range book.sections {
		if name == "*" {
			used["[*]"] = true
		}
		if slices.ContainsFunc(absent, func(a string) bool { return name == a || strings.HasPrefix(name, a+" ") }) {
			continue
		}
		if !used["["+name+"]"] {
			t.Errorf("[%s] explains no command", name)
			continue
		}
		for key := range words.entries {
			if !used["["+name+"] "+key] {
				t.Errorf("[%s] %s explains nothing", name, key)
			}
		}
	}
}

var (
	helpHeading = regexp.MustCompile(`^[A-Z][A-Za-z ]*:$`)
	helpName    = regexp.MustCompile(`^  ( *(?:-|[\[<a-z])\S*(?: \S+)*?)(?:  |$)`)
	helpBracket = regexp.MustCompile(`\[(?:default|default alias|alias|aliases|possible values): [^\]]*\]`)
)

// skeleton is help without its prose: usage, headings, names, and what stands
// in brackets.
func skeleton(help string) string {
	var out []string
	for _, line := range strings.Split(help, "\n") {
		switch {
		case strings.HasPrefix(line, "Usage: "), helpHeading.MatchString(line):
			out = append(out, line)
		case helpName.MatchString(line):
			out = append(out, strings.Join(append([]string{helpName.FindStringSubmatch(line)[1]}, helpBracket.FindAllString(line, -1)...), " "))
		}
	}
	return strings.Join(out, "\n")
}

// TestHelpAgainstStock holds the form of all short help against stock jj's: the
// same usage, options, values, defaults and other names, in the same order. The
// sentences are our own.
func TestHelpAgainstStock(t *testing.T) {
	stock := stocktest.New(t)
	dir := t.TempDir()
	eachCommand([]*command{commandTree()}, func(path []*command) {
		if path[len(path)-1].absent {
			return
		}
		args := append(strings.Fields(pathName(path))[1:], "-h")
		// Wide, so that nothing is wrapped in either.
		want, _, _ := stock.Exec(dir, []string{"COLUMNS=1000"}, "", args...)
		if want, got := skeleton(unwrap(want)), skeleton(unwrap(helpFor(path, false, 1000))); got != want {
			t.Errorf("jj %s\nstock:\n%s\nours:\n%s", strings.Join(args, " "), want, got)
		}
	})
}

// unwrap joins the lines of an entry.
func unwrap(help string) string {
	return regexp.MustCompile(`\n {10,}(\S)`).ReplaceAllString(help, " $1")
}
