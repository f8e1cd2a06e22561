package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Query is what somebody looks for.
type Query struct {
	Stems    []string   // each raises what has it
	Phrases  [][]string // stems that must stand one behind the other, as in "merge queue"
	Prefixes []string   // the beginnings of terms, as in auth*
}

// Bounds of a query: what is beyond them is left out, so that no question is dear.
const (
	maxQuery    = 64
	maxPhrases  = 8
	maxPrefixes = 4
	minPrefix   = 2
)

// Read reads a query: words, "phrases" and beginnings*. Words without meaning are left out unless there is nothing else.
func Read(s string) Query {
	var q Query
	for i, part := range strings.Split(s, `"`) {
		if i%2 == 0 {
			q.readWords(part)
			continue
		}
		if phrase := inOrder(Terms(part)); len(phrase) > 1 && len(q.Phrases) < maxPhrases {
			q.Phrases = append(q.Phrases, phrase)
		}
		q.add(Terms(part))
	}
	if len(q.Stems) == 0 && len(q.Prefixes) == 0 { // "to be or not to be"
		for w := range runs(s) {
			q.add([]Term{{Stem: Stem(fold(w))}})
		}
	}
	return q
}

func (q *Query) readWords(s string) {
	for _, w := range strings.Fields(s) {
		if begin, ok := strings.CutSuffix(w, "*"); ok {
			begin = kept(fold(strings.Join(slices.Collect(runs(begin)), "")))
			if utf8.RuneCountInString(begin) >= minPrefix && len(begin) <= maxTerm && len(q.Prefixes) < maxPrefixes {
				q.Prefixes = append(q.Prefixes, begin)
			}
			continue
		}
		q.add(Terms(w))
	}
}

// kept is what stays of a beginning in the stem: release* looks for what begins with releas, as "releases" is kept.
func kept(begin string) string {
	stem := Stem(begin)
	n := 0
	for n < len(stem) && n < len(begin) && stem[n] == begin[n] {
		n++
	}
	return begin[:n]
}

// add takes terms in, each once.
func (q *Query) add(terms []Term) {
next:
	for _, t := range terms {
		for _, known := range q.Stems {
			if known == t.Stem {
				continue next
			}
		}
		if len(q.Stems) < maxQuery {
			q.Stems = append(q.Stems, t.Stem)
		}
	}
}

// inOrder are the stems of a phrase, one for each place.
func inOrder(terms []Term) []string {
	var out []string
	last := -1
	for _, t := range terms {
		if t.At > last {
			out, last = append(out, t.Stem), t.At
		}
	}
	return out
}

// Follow says whether the stems stand one behind the other in a text, given the places of each. A word without meaning may stand between
// two of them, as it may have stood in the phrase.
func Follow(places [][]int) bool {
	if len(places) == 0 {
		return false
	}
	for _, at := range places[0] {
		if followFrom(places[1:], at) {
			return true
		}
	}
	return false
}

func followFrom(places [][]int, at int) bool {
	if len(places) == 0 {
		return true
	}
	for _, next := range places[0] {
		if next > at && next <= at+2 && followFrom(places[1:], next) {
			return true
		}
	}
	return false
}
