package session

import (
	"strings"
	"testing"
)

// A circle is seen where the same one, two or three calls came back with the same outcomes often enough, and nowhere else.
func TestCirclesInCalls(t *testing.T) {
	for made, want := range map[string]string{
		"":                      "",
		"aa":                    "",
		"aaa":                   "a",
		"baaa":                  "a",
		"aaab":                  "", // it did something else
		"abab":                  "",
		"ababab":                "ab",
		"bababab":               "ab",
		"xababab":               "ab",
		"ababac":                "",
		"abcabc":                "",
		"abcabcabc":             "abc",
		"zabcabcabc":            "abc",
		"aabaabaab":             "aab",
		"abcabcabd":             "",
		"abcdabcdabcd":          "", // longer than what is looked for
		"abABab":                "", // the same tool with another outcome
		strings.Repeat("a", 40): "a",
	} {
		r := Rounds{Times: 3}
		var last *Circle
		var all []Made
		for _, c := range made {
			m := MadeOf(strings.ToLower(string(c)), "args", string(c))
			all = append(all, m)
			last = r.Took(m)
			if len(r.made) > Lately(3) {
				t.Fatalf("%s: %d calls are remembered", made, len(r.made))
			}
		}
		var got string
		if last != nil {
			got = strings.Join(last.Tools, "")
		}
		if got != want {
			t.Errorf("%s goes round in %q, want %q", made, got, want)
		}
		if again := CircleIn(all, 3); (again == nil) != (last == nil) {
			t.Errorf("%s: %v as they come, and %v in all of them", made, last, again)
		}
	}
	if MadeOf("a", "bc", "") == MadeOf("a", "b", "c") || MadeOf("a", "b", "c") == MadeOf("ab", "", "c") {
		t.Error("arguments and outcome run into each other")
	}
}

// What ended a turn is kept beside the words that say it.
func TestWhatEndedATurnIsKept(t *testing.T) {
	c := &Circle{Tools: []string{"read", "list"}, Times: 3}
	if cause := CauseOf(Circled{c}); cause != Circling {
		t.Errorf("%q", cause)
	}
	if cause := CauseOf(c.Fault()); cause != "" {
		t.Errorf("words alone are a cause: %q", cause)
	}
	s := stand{turn: &Turn{State: Running}}
	if err := s.apply(finished{state: Failed, reason: c.Fault().Msg, cause: Circling}); err != nil {
		t.Fatal(err)
	}
	if s.turn.Cause != Circling || s.turn.Reason != c.Fault().Msg || !strings.Contains(s.turn.Reason, "read, list 3 times in turn") {
		t.Errorf("%q: %s", s.turn.Cause, s.turn.Reason)
	}
}
