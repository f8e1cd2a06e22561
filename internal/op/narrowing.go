package op

import (
	"slices"
	"strings"
)

// narrowedBy begins what stands in a caller's chain for a signed assertion that narrows it.
const narrowedBy = "assertion:"

// Narrowings are what a caller, and those on whose words it acts, are narrowed by: what an assertion left of what its person may. They
// stand in the chain, so that whatever keeps a chain for later keeps them.
func Narrowings(c Caller) (out []string) {
	for _, chain := range append(slices.Clip(c.Prompted), c.For) {
		for _, who := range chain {
			if strings.HasPrefix(who, narrowedBy) && !slices.Contains(out, who) {
				out = append(out, who)
			}
		}
	}
	return out
}
