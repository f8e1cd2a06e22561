package prepare

import (
	"regexp"
	"slices"
)

// wants are what tools say when a dependency is not there, and nothing that was written would be another thing.
var wants = map[Kind]*regexp.Regexp{
	Go: regexp.MustCompile(`missing go\.sum entry|no required module provides package|cannot find module providing package|` +
		`module lookup disabled by GOPROXY=off|dial tcp: lookup \S+(:| on |: )|requires go >= \S+ \(running go|` +
		`toolchain not available|cannot find package "\w[\w-]*\.[^"]+" in`),
	NPM: regexp.MustCompile(`Cannot find (module|package) '(@[\w.-]+/)?[\w-][\w.-]*('|/)|` +
		`npm (ERR!|error) (code|request to) (ENOTCACHED|ENOTFOUND|EAI_AGAIN|https?://)|` +
		`(sh|bash): (\d+: |line \d+: )?[\w-]+: (command )?not found[\s\S]*npm (ERR!|error)`),
}

// Wanting says of which kind a dependency is that a check seems to lack, from what it printed. It is a guess about text that anybody may
// have written: it decides who hears of a red check, and never whether it is one.
func Wanting(output string) (Kind, bool) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return wants[k].MatchString(output) })
	if i < 0 {
		return "", false
	}
	return Kinds[i], true
}
