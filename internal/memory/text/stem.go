package text

import "strings"

// Stem takes English endings off a word in lower case, by the rules that M. F. Porter published in 1980 ("An algorithm for suffix
// stripping", Program 14). A word with anything but the letters a to z is returned as it is.
func Stem(word string) string {
	if len(word) <= 2 || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return word
	}
	w := word
	w = plurals(w)
	w = pastAndPresent(w)
	if strings.HasSuffix(w, "y") && vowelIn(w[:len(w)-1]) {
		w = w[:len(w)-1] + "i"
	}
	w = replaceFirst(w, doubles, 0)
	w = replaceFirst(w, singles, 0)
	w = drop(w)
	return tidy(w)
}

// consonant says whether the letter at i is one: y is, unless it follows one.
func consonant(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !consonant(w, i-1)
	}
	return true
}

// measure counts how often vowels are followed by consonants.
func measure(w string) (m int) {
	vowel := false
	for i := range len(w) {
		c := consonant(w, i)
		if c && vowel {
			m++
		}
		vowel = !c
	}
	return m
}

func vowelIn(w string) bool {
	for i := range len(w) {
		if !consonant(w, i) {
			return true
		}
	}
	return false
}

func doubled(w string) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && consonant(w, n-1)
}

// short says whether a word ends in consonant, vowel, consonant, the last not w, x or y: hop, but not snow.
func short(w string) bool {
	n := len(w)
	return n > 2 && consonant(w, n-3) && !consonant(w, n-2) && consonant(w, n-1) && !strings.ContainsRune("wxy", rune(w[n-1]))
}

func plurals(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
		return w
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

func pastAndPresent(w string) string {
	if base, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(base) > 0 {
			return base + "ee"
		}
		return w
	}
	base, ok := strings.CutSuffix(w, "ed")
	if !ok {
		base, ok = strings.CutSuffix(w, "ing")
	}
	if !ok || !vowelIn(base) {
		return w
	}
	switch {
	case strings.HasSuffix(base, "at"), strings.HasSuffix(base, "bl"), strings.HasSuffix(base, "iz"):
		return base + "e"
	case doubled(base) && !strings.ContainsRune("lsz", rune(base[len(base)-1])):
		return base[:len(base)-1]
	case measure(base) == 1 && short(base):
		return base + "e"
	}
	return base
}

type ending struct{ from, to string }

// doubles and singles are endings that become shorter ones; the first that fits is the only one tried.
var doubles = []ending{{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"},
	{"alli", "al"},
	{"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"},
	{"iveness", "ive"},
	{"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}}

var singles = []ending{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}

func replaceFirst(w string, endings []ending, over int) string {
	for _, e := range endings {
		if base, ok := strings.CutSuffix(w, e.from); ok {
			if measure(base) > over {
				return base + e.to
			}
			return w
		}
	}
	return w
}

// dropped are endings that fall away from longer words, the longer ones first.
var dropped = []string{"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al",
	"er", "ic", "ou"}

func drop(w string) string {
	for _, e := range dropped {
		base, ok := strings.CutSuffix(w, e)
		switch {
		case !ok:
			continue
		case measure(base) <= 1, e == "ion" && !strings.HasSuffix(base, "s") && !strings.HasSuffix(base, "t"):
			return w
		}
		return base
	}
	return w
}

func tidy(w string) string {
	if base, ok := strings.CutSuffix(w, "e"); ok {
		if m := measure(base); m > 1 || m == 1 && !short(base) {
			w = base
		}
	}
	if measure(w) > 1 && doubled(w) && strings.HasSuffix(w, "l") {
		w = w[:len(w)-1]
	}
	return w
}
