package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"

	"tandem/internal/memory/wire"
)

// conversation is one of LoCoMo: turns in their order, and questions with the turns that answer them. Other texts are asked about in the
// same way; they lie in no session, where what stands beside another text tells of it.
type conversation struct {
	turns     []turn
	questions []question
	apart     bool
}

// place is where the texts are kept.
func (c conversation) place() wire.Filter {
	if c.apart {
		return wire.Filter{Tier: wire.OfProject, Of: "docs"}
	}
	return wire.Filter{Tier: wire.OfSession, Of: "locomo"}
}

type turn struct{ id, text string }

type question struct {
	text     string
	evidence []string
}

var turnID = regexp.MustCompile(`D\d+:\d+`)

// readLocomo reads locomo10.json. Questions of category 5 have no answer in the conversation, and are left out.
func readLocomo(file string) (out []conversation, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []struct {
		QA []struct {
			Question string
			Evidence []string
			Category int
		}
		Conversation map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	for _, from := range all {
		var c conversation
		known := map[string]bool{}
		for n := 1; from.Conversation[fmt.Sprintf("session_%d", n)] != nil; n++ {
			var turns []struct {
				Speaker, Text string
				ID            string `json:"dia_id"`
				Caption       string `json:"blip_caption"`
			}
			if err := json.Unmarshal(from.Conversation[fmt.Sprintf("session_%d", n)], &turns); err != nil {
				return nil, err
			}
			for _, t := range turns {
				c.turns = append(c.turns, turn{t.ID, fmt.Sprintf("%s: %s %s", t.Speaker, t.Text, t.Caption)})
				known[t.ID] = true
			}
		}
		for _, qa := range from.QA {
			q := question{text: qa.Question}
			for _, e := range qa.Evidence {
				q.evidence = append(q.evidence, turnID.FindAllString(e, -1)...)
			}
			q.evidence = slices.DeleteFunc(q.evidence, func(id string) bool { return !known[id] })
			if qa.Category != 5 && len(q.evidence) > 0 {
				c.questions = append(c.questions, q)
			}
		}
		out = append(out, c)
	}
	if len(out) != 10 {
		return nil, fmt.Errorf("%s has %d conversations, not 10", file, len(out))
	}
	return out, nil
}

// recall is the share of a question's evidence among the first found.
func recall(q question, found []string, first int) float64 {
	hit := 0
	for _, id := range q.evidence {
		if slices.Contains(found[:min(len(found), first)], id) {
			hit++
		}
	}
	return float64(hit) / float64(len(q.evidence))
}

func mean(all []float64) (m float64) {
	for _, x := range all {
		m += x / float64(len(all))
	}
	return m
}

// interval is where the mean of paired differences lies, with 95 of 100, by drawing the questions anew.
func interval(a, b []float64) (low, high float64) {
	r := rand.New(rand.NewPCG(20, 20))
	var means []float64
	for range 2000 {
		sum := 0.0
		for range a {
			i := r.IntN(len(a))
			sum += a[i] - b[i]
		}
		means = append(means, sum/float64(len(a)))
	}
	slices.Sort(means)
	return means[50], means[1949]
}
