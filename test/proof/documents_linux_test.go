package proof

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// What the documents tell people to type is typed, word for word, on machines as the text describes them, and the answers are compared
// with what the text shows. Each story is in testdata/stories; TANDEM_STORY=NAME
// plays one.
func TestDocuments(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	w, answers := newWorld(t), shownAnswers(t)
	stories := readStories(t)
	names := make([]string, 0, len(stories))
	for n := range stories {
		names = append(names, n)
	}
	slices.Sort(names)
	lines, began := 0, time.Now()
	for _, n := range names {
		s := stories[n]
		if s.soak != "" && !testenv.Soak() || os.Getenv("TANDEM_STORY") != "" && os.Getenv("TANDEM_STORY") != n {
			continue
		}
		t.Run(n, func(t *testing.T) {
			began := time.Now()
			typed := play(t, w, s, answers)
			lines += typed
			t.Logf("%s: %d lines in %.1f s", s.name, typed, time.Since(began).Seconds())
		})
	}
	t.Logf("%d lines of documents typed in %.1f s", lines, time.Since(began).Seconds())
}

// shownAnswers is what the documents show below a line, by story and line.
func shownAnswers(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for _, doc := range documents(t) {
		for _, b := range readBlocks(t, doc) {
			for _, l := range b.lines {
				for _, name := range strings.Fields(b.why) {
					all[name+"\n"+l.line] = append(all[name+"\n"+l.line], l.says...)
				}
			}
		}
	}
	return all
}

// play types a story's lines and gives how many of them stand in documents. What is wrong does not end it.
func play(t *testing.T, w *world, s *story, answers map[string][]string) (typed int) {
	machines := stage(t, w, s.machines, s.env)
	means := map[string]string{}
	for _, st := range s.steps {
		if st.unrun != "" {
			continue
		}
		p := machines[st.machine]
		if p == nil {
			t.Fatalf("%s: there is no machine %q", st.at, st.machine)
		}
		line := mean(st.line, means)
		out, exit, err := p.types(st, line, func() error {
			said, exit, err := machines[st.others.machine].types(st.others, mean(st.others.line, means), nil)
			if err != nil || exit != 0 {
				return fmt.Errorf("meanwhile at %s$ %s\n%s\nexit %d %v", st.others.machine, st.others.line, said, exit, err)
			}
			return nil
		})
		if err != nil || exit != st.exit {
			t.Errorf("%s: %s$ %s\n%s\nexit %d %v", st.at, p.name, line, out, exit, err)
			continue
		}
		for _, want := range st.shows {
			if !pattern("…" + mean(want, means) + "…").MatchString(out) {
				t.Errorf("%s: %s$ %s\ndoes not show %q but\n%s", st.at, p.name, line, want, out)
			}
		}
		if st.document {
			typed++
			for _, want := range answers[s.name+"\n"+st.line] {
				if !pattern(mean(want, means)).MatchString(out) {
					t.Errorf("%s: %s$ %s\nis shown with %q and answers\n%s", st.at, p.name, line, want, out)
				}
			}
		}
		if st.word != "" {
			out = strings.TrimSpace(out)
			if means[st.word] = out[strings.LastIndex(out, "\n")+1:]; means[st.word] == "" {
				t.Errorf("%s: nothing stands for %s", st.at, st.word)
			}
		}
	}
	return typed
}

// mean puts in what words of a document stand for, longer ones first.
func mean(line string, means map[string]string) string {
	words := make([]string, 0, len(means))
	for w := range means {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, w := range words {
		line = strings.ReplaceAll(line, w, means[w])
	}
	return line
}
