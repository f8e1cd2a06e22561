package policy

import (
	"maps"
	"slices"
	"strings"
)

// Right is what an operation's right string means: which kind it touches, what it does to it, and whether a person must
// be present.
type Right struct {
	Name       string
	Kind       ResourceKind
	Permission AccessPermission
	Presence   bool
}

type verb struct {
	permission AccessPermission
	presence   bool
}

// verbs is the one place where the words in the table of operations get their meaning. Deciding, granting, minting,
// unmasking and exporting need a person present, whatever the kind.
var verbs = map[string]verb{
	"view":     {CanView, false},
	"list":     {CanView, false},
	"read":     {CanRead, false},
	"get":      {CanRead, false},
	"watch":    {CanRead, false},
	"search":   {CanRead, false},
	"write":    {CanEdit, false},
	"edit":     {CanEdit, false},
	"create":   {CanEdit, false},
	"delete":   {CanEdit, false},
	"post":     {CanEdit, false},
	"join":     {CanEdit, false},
	"execute":  {CanExecute, false},
	"use":      {CanExecute, false},
	"call":     {CanExecute, false},
	"run":      {CanExecute, false},
	"open":     {CanExecute, false},
	"prompt":   {CanExecute, false},
	"delegate": {CanDelegate, true},
	"grant":    {CanDelegate, true},
	"admin":    {CanAdmin, true},
	"manage":   {CanExecute, false},
	"decide":   {CanAdmin, true},
	"mint":     {CanAdmin, true},
	"revoke":   {CanAdmin, true},
	"unmask":   {CanAdmin, true},
	"export":   {CanAdmin, true},
}

// authority lists the kinds whose edits are edits of authority itself; changing them needs a person present.
var authority = map[ResourceKind]bool{KindPolicy: true, KindGrant: true, KindToken: true, KindTenant: true}

// ParseRight reads a right such as resource.read, approval.decide or token.mint. An unknown kind or verb is an error, so
// that a table with a misspelt right does not start.
func ParseRight(s string) (Right, error) {
	kind, word, ok := strings.Cut(s, ".")
	if !ok {
		return Right{}, malformed("right %q is not kind.verb", s)
	}
	k := ResourceKind(kind)
	if !knownKind[k] {
		return Right{}, malformed("right %q: there is no kind of resource called %q", s, kind)
	}
	v, ok := verbs[word]
	if !ok {
		return Right{}, malformed("right %q: %q is not one of %s", s, word,
			strings.Join(slices.Sorted(maps.Keys(verbs)), ", "))
	}
	presence := v.presence || (authority[k] && v.permission != CanView && v.permission != CanRead)
	return Right{Name: s, Kind: k, Permission: v.permission, Presence: presence}, nil
}
