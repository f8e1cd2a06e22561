package text

import "strings"

// stop are English words that stand in nearly every text and tell nothing of it. Negations are not among them: "not safe" is not "safe".
var stop = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
		a about after again all also am an and any are as at be because been before being between both but by can could did do does doing
		down during each few for from further had has have having he her here hers herself him himself his how i if in into is it its itself
		just let me more most much my myself of off on once only or other our ours ourselves out over own please same she should so some such
		than that the their theirs them themselves then there these they this those through to too under until up upon very was we were what
		when where which while who whom whose why will with would you your yours yourself yourselves`) {
		m[w] = true
	}
	return m
}()
