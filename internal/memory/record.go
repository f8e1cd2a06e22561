package memory

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// Limits of a record, and of what one author may have waiting.
const (
	maxText    = 16 << 10
	maxLabels  = 16
	maxSources = 16
	maxRef     = 1024
	maxDays    = 3650
	maxWaiting = 1000
)

var (
	labelForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,63}$`)
	placeForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	digestForm = regexp.MustCompile(`^([0-9a-f]{64})?$`)
)

func bad(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "memory", format, args...)
}

// settle fills in what was left out and refuses what cannot be kept.
func settle(in wire.AddIn, c op.Caller) (wire.AddIn, error) {
	if in.Kind == "" {
		in.Kind = wire.Note
	}
	if in.Tier == "" {
		in.Tier = wire.OfTeam
	}
	if in.Tier == wire.OfSession && in.Of == "" {
		in.Of = c.Session
	}
	if in.Days < 0 || in.Days > maxDays {
		return in, bad("a record is kept between 1 and %d days, or without end", maxDays)
	}
	err := checkText(in.Text)
	for _, check := range []error{checkKind(in.Kind), checkPlace(in.Tier, in.Of), checkLabels(in.Labels), checkSources(in.Sources)} {
		if err == nil {
			err = check
		}
	}
	return in, err
}

func checkText(s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return bad("the text is empty").WithNext("say what is to be remembered, in a sentence")
	case len(s) > maxText:
		return bad("the text has %d bytes; %d are allowed", len(s),
			maxText).WithNext("remember one thing at a time, and name the document as its source")
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return bad("the text is not plain UTF-8")
	}
	return nil
}

func checkKind(k wire.Kind) error {
	if !slices.Contains(wire.Kinds, k) {
		return bad("%.40q is no kind of memory", string(k)).WithNext("it is fact, decision, lesson, preference or note")
	}
	return nil
}

func checkPlace(t wire.Tier, of string) error {
	switch {
	case !slices.Contains(wire.Tiers, t):
		return bad("%.40q is no tier", string(t)).WithNext("it is session, project, team or curated")
	case t == wire.OfTeam && of != "":
		return bad("the team's memory has no parts").WithNext("for a part of it choose a project or a curated collection")
	case t != wire.OfTeam && !placeForm.MatchString(of):
		return bad("which %s? %.64q is no name for one", t, of).WithNext("a name has letters, digits, dots, hyphens and underscores, at most 64")
	}
	return nil
}

func checkLabels(labels []string) error {
	if len(labels) > maxLabels {
		return bad("a record has at most %d labels", maxLabels)
	}
	for _, l := range labels {
		if !labelForm.MatchString(l) {
			return bad("%.64q is no label", l).WithNext("a label has small letters, digits, dots and hyphens, at most 64")
		}
	}
	return nil
}

func checkSources(sources []wire.Source) error {
	if len(sources) > maxSources {
		return bad("a record has at most %d sources", maxSources)
	}
	for _, s := range sources {
		switch {
		case !slices.Contains(wire.SourceKinds, s.Kind):
			return bad("%.40q is no kind of source", s.Kind).WithNext("it is one of %s", strings.Join(wire.SourceKinds, ", "))
		case s.Ref == "" || len(s.Ref) > maxRef || len(s.Place) > maxRef || !utf8.ValidString(s.Ref+s.Place) ||
			strings.ContainsRune(s.Ref+s.Place, 0):
			return bad("a source has a name of at most %d bytes", maxRef)
		case !digestForm.MatchString(s.Digest):
			return bad("a source's digest is a SHA-256 in small hex digits")
		}
	}
	return nil
}

// least is the weakest of some degrees of trust.
func least(all ...wire.Trust) wire.Trust {
	order := []wire.Trust{wire.Untrusted, wire.Approved, wire.Stated}
	low := len(order) - 1
	for _, t := range all {
		low = min(low, max(0, slices.Index(order, t)))
	}
	return order[low]
}

// wider says how tiers lie to each other.
func wider(a, b wire.Tier) bool { return slices.Index(wire.Tiers, a) > slices.Index(wire.Tiers, b) }

func expired(r *row, now time.Time) bool { return !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt) }

// joined are labels as they are stored: each between commas, so that one can be looked for.
func joined(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	labels = slices.Clone(labels)
	slices.Sort(labels)
	return "," + strings.Join(slices.Compact(labels), ",") + ","
}

func parted(s string) []string {
	if s = strings.Trim(s, ","); s == "" {
		return nil
	}
	return strings.Split(s, ",")
}
