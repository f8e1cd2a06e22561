package prepare

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// wants are what tools say when something is not there that a lock file names; the group that matched is its name.
var wants = map[Kind]*regexp.Regexp{
	Go: regexp.MustCompile(`(?m)([\w.~/-]+@v[\w.+-]+): (?:Get "https?://|module lookup disabled by GOPROXY=off)|` +
		`^go: downloading ([\w.~/-]+ v[\w.+-]+)$`),
	NPM: regexp.MustCompile(`Cannot find (?:module|package) '((?:@[\w.-]+/)?[\w-][\w.-]*)['/]|` +
		`request to https?://[^/\s]+/((?:@[\w.-]+/)?[\w-][\w.-]*)[/\s]|` +
		`(?m:^(?:sh|bash): (?:\d+: |line \d+: )?([\w.-]+): (?:command )?not found)`),
}

// unreached is what Go says, too, where it did not get what it says that it downloads.
var unreached = regexp.MustCompile(`module lookup disabled by GOPROXY=off|": dial tcp`)

// Wanting says of which kind a dependency is that a check lacked: one that a lock file names for which nothing was fetched, and of which a
// tool says in the output that it is not there. The output is text that anybody may have written. By itself it decides nothing: what no
// lock file names is for whoever wrote the code.
func Wanting(output string, unfetched []File) (Kind, bool) {
	for _, f := range unfetched {
		if f.Kind == Go && !unreached.MatchString(output) {
			continue
		}
		named := f.found()
		for _, match := range wants[f.Kind].FindAllStringSubmatch(output, -1) {
			if slices.ContainsFunc(match[1:], func(name string) bool { return named[strings.Replace(name, " ", "@", 1)] }) {
				return f.Kind, true
			}
		}
	}
	return "", false
}

// found are the names by which tools find what a lock file names.
func (f File) found() map[string]bool {
	out := map[string]bool{}
	switch f.Kind {
	case Go:
		sums, err := parseSums(f.Text)
		if err != nil {
			return nil
		}
		for _, s := range sums {
			out[s.Path+"@"+s.Version.Version] = true
		}
	case NPM:
		l, err := parseNPM(f.Text)
		if err != nil {
			return nil
		}
		for at, p := range l.Packages {
			if !p.fetched(at) {
				continue
			}
			out[lies(at)] = true
			var programs map[string]string
			if json.Unmarshal(p.Bin, &programs) == nil {
				for name := range programs {
					out[name] = true
				}
			}
		}
	}
	return out
}
