package proof

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/documents.txt anew")

// Every block of every document says how it is tested, and every line of a story's blocks is typed in it, as it is printed, or says
// why not. How many are typed, and what is not, stands in testdata/documents.txt (written anew with -args -update), which make documents
// prints.
func TestEveryBlockSaysHowItIsTested(t *testing.T) {
	stories := readStories(t)
	typed := map[string]bool{} // by story and line: some document prints it
	var out strings.Builder
	total, unrun, soaked := 0, 0, 0
	for _, doc := range documents(t) {
		run := 0
		var not []string
		for _, b := range readBlocks(t, doc) {
			at := fmt.Sprintf("%s:%d", b.doc, b.at)
			switch {
			case b.kind == "no commands":
			case b.kind == "not run":
				for _, l := range b.lines {
					not = append(not, fmt.Sprintf("  %s\n    %s", l.line, b.why))
				}
			case b.kind == "":
				t.Errorf("%s: the block does not say how it is tested: <!-- story: NAME --> or <!-- not run: REASON --> above it", at)
			default:
				for _, l := range b.lines {
					switch s, st := stepOf(t, stories, b, l, typed); {
					case st == nil:
						t.Errorf("%s: %q is not in the story %s", at, l.line, b.why)
					case st.unrun != "":
						not = append(not, fmt.Sprintf("  %s\n    %s", l.line, st.unrun))
					default:
						run++
						if s.soak != "" {
							soaked++
						}
					}
				}
			}
		}
		if run+len(not) > 0 {
			name := strings.TrimPrefix(doc, "../../")
			fmt.Fprintf(&out, "%s: %d lines run, %d not\n", name, run, len(not))
			for _, n := range not {
				fmt.Fprintln(&out, n)
			}
		}
		total, unrun = total+run, unrun+len(not)
	}
	fmt.Fprintf(&out, "together: %d lines run, %d of them in make soak alone; %d not\n", total, soaked, unrun)
	for _, s := range stories {
		for _, st := range s.steps {
			if st.document && !typed[s.name+"\n"+st.line] {
				t.Errorf("%s: no document prints %q", st.at, st.line)
			}
		}
	}
	const golden = "testdata/documents.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(golden); err != nil || string(kept) != out.String() {
		t.Errorf("what is typed is not what %s says (%v); look at it and write it anew with -args -update:\n%s", golden, err, out.String())
	}
}

// stepOf is where a line of a block is typed, and notes in typed that a document prints it.
func stepOf(t *testing.T, stories map[string]*story, b *block, l shown, typed map[string]bool) (*story, *step) {
	for _, name := range strings.Fields(b.why) {
		s := stories[name]
		if s == nil {
			t.Errorf("%s:%d: there is no story %q", b.doc, b.at, name)
			continue
		}
		if i := slices.IndexFunc(s.steps, func(st *step) bool { return st.document && st.line == l.line }); i >= 0 {
			typed[name+"\n"+l.line] = true
			return s, s.steps[i]
		}
	}
	return nil, nil
}
