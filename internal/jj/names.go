package jj

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/revset"
)

func checkBookmarkName(s string) error { return checkRefName("bookmark", s) }

// checkRefName refuses what cannot be read back as a name.
func checkRefName(what, s string) error {
	_, err := revset.ParseSymbol(s)
	if err == nil {
		return nil
	}
	de := err.(*dsl.Error)
	e := &cmdError{msg: fmt.Sprintf("Failed to parse %s name: %s", what, de.Title), cause: de}
	if n, perr := revset.Parse(s); what == "bookmark" && perr == nil && n.Kind == dsl.Remote {
		return e.hinted("Looks like remote bookmark. Run `jj bookmark track %s` to track it.", revset.FormatRemote(n.Name, n.Remote))
	}
	return e.hinted("%s", symbolHint)
}

func refNames(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i], _ = revset.ParseSymbol(a)
	}
	return out
}

// namePatterns is the union of name patterns.
func namePatterns(texts []string) (*pattern.Expr, error) {
	out := &pattern.Expr{Op: "|"}
	for _, t := range texts {
		x, err := revset.ParseStringExpr(t)
		if err != nil {
			return nil, nameError("name pattern", err)
		}
		out.Args = append(out.Args, x)
	}
	return out, nil
}

func nameError(what string, err error) error {
	de, ok := err.(*dsl.Error)
	if !ok {
		return err
	}
	e := userf("Failed to parse %s: %s", what, de.Title).because(de)
	if h := languageHint("revset", de); h != "" {
		e.hinted("%s", h)
	}
	return e
}

// warnUnknownRefs tells of names that stand for nothing.
func (st *state) warnUnknownRefs(k refKind, x *pattern.Expr, remotes bool) {
	var lost []string
	for _, n := range x.Exacts() {
		_, found := k.local(st.repo.View)[n]
		if remotes {
			for _, rv := range st.repo.View.Remotes {
				_, ok := k.on(rv)[n]
				found = found || ok
			}
		}
		if !found {
			lost = append(lost, n)
		}
	}
	if len(lost) > 0 {
		st.ui.warnf("No matching %ss for names: %s", k.noun, symbols(lost))
	}
}

func (st *state) warnUnknownRemotes(x *pattern.Expr) {
	var lost []string
	for _, n := range x.Exacts() {
		if _, ok := st.repo.View.Remotes[n]; !ok {
			lost = append(lost, n)
		}
	}
	if len(lost) > 0 {
		st.ui.warnf("No matching remotes for names: %s", symbols(lost))
	}
}

func matching[V any](m map[string]V, x *pattern.Expr) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(m)) {
		if x.Match(n) {
			out = append(out, n)
		}
	}
	return out
}

func quoteKey(k string) string {
	if strings.ContainsAny(k, ". \"'") {
		return `"` + k + `"`
	}
	return k
}
