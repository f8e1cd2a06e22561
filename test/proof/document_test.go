package proof

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A document's blocks say how they are tested, in a comment that readers do not see:
//
//	<!-- story: NAME -->         its lines are typed in testdata/stories/NAME.story; where several are named, in one of them
//	<!-- not run: REASON -->     they are not
//	<!-- no commands: REASON --> there is nothing to type in it
//
// One that begins with "every block: " is for all blocks of its document that have none of their own.
var setting = regexp.MustCompile(`^<!-- (every block: )?(story|not run|no commands): (.+) -->$`)

// block is a fenced block of a document.
type block struct {
	doc   string
	at    int    // its first line
	kind  string // story, not run, no commands, or nothing where nobody said
	why   string // which story, or why not
	lines []shown
}

// shown is a command line as it is printed, and what the text shows of its answer.
type shown struct {
	line string
	says []string
}

// documents are the texts whose lines are typed: README, and all of docs.
func documents(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(found) < 10 {
		t.Fatalf("the documents are not there: %v %v", found, err)
	}
	return append([]string{"../../README.md"}, found...)
}

func readBlocks(t *testing.T, path string) (all []*block) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.TrimPrefix(filepath.ToSlash(path), "../../")
	var in *block
	var body []string
	var kind, why, everyKind, everyWhy string
	for i, line := range strings.Split(string(data), "\n") {
		switch m := setting.FindStringSubmatch(line); {
		case in != nil && strings.HasPrefix(line, "```"):
			in.lines = readLines(body)
			all, in, body = append(all, in), nil, nil
		case in != nil:
			body = append(body, line)
		case m != nil && m[1] != "":
			everyKind, everyWhy = m[2], m[3]
		case m != nil:
			kind, why = m[2], m[3]
		case strings.HasPrefix(line, "```"):
			in = &block{doc: doc, at: i + 2, kind: kind, why: why}
			if kind == "" {
				in.kind, in.why = everyKind, everyWhy
			}
			kind, why = "", ""
		case strings.TrimSpace(line) != "": // a setting stands directly above its block
			kind, why = "", ""
		}
	}
	return all
}

// readLines takes a block apart. Where lines begin with a prompt the others are answers, else every line is one to type.
func readLines(body []string) (all []shown) {
	prompt := false
	for _, l := range body {
		prompt = prompt || strings.HasPrefix(l, "$ ")
	}
	for _, l := range body {
		typed, ok := strings.CutPrefix(l, "$ ")
		switch {
		case strings.TrimSpace(l) == "":
		case prompt && !ok && len(all) > 0:
			all[len(all)-1].says = append(all[len(all)-1].says, l)
		case strings.HasPrefix(l, "#"):
		default:
			all = append(all, shown{line: strings.TrimRight(typed, " ")})
		}
	}
	return all
}

// pattern matches an answer as a text shows it: numbers and times differ, … stands for anything.
func pattern(shown string) *regexp.Regexp {
	p := regexp.QuoteMeta(strings.TrimRight(shown, " "))
	p = regexp.MustCompile(`\d+`).ReplaceAllString(p, `\d+`)
	return regexp.MustCompile(`(?m)^` + strings.ReplaceAll(p, "…", ".*") + `\s*$`)
}
