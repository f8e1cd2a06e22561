package ui

import (
	"context"
	"strconv"
	"time"
)

// Tone is the meaning of a colour. There are five, and colour is never the
// only sign: a word stands beside it.
type Tone string

// The tones.
const (
	Quiet Tone = "quiet" // nothing to do
	Info  Tone = "info"  // worth knowing
	Good  Tone = "good"  // as it should be
	Warn  Tone = "warn"  // somebody should look
	Bad   Tone = "bad"   // refused, failed, broken
)

// Pair is a row of a key-value list.
type Pair struct {
	Key   string
	Value string
	Mono  bool
	Copy  bool
}

// Column heads a table's column. Num columns are right-aligned; Wide ones
// take the room that is left; Aside ones give way on a phone.
type Column struct {
	Label string
	Num   bool
	Wide  bool
	Aside bool
}

func (c Column) class() string {
	s := ""
	if c.Num {
		s += "num "
	}
	if c.Wide {
		s += "wide "
	}
	if c.Aside {
		s += "aside "
	}
	return s
}

// Tab is one of several views of a page.
type Tab struct {
	Label  string
	Href   string
	Count  int
	More   bool // there are more than were counted
	Active bool
}

func tabCount(t Tab) string {
	if t.More {
		return itoa(t.Count) + "+"
	}
	return itoa(t.Count)
}

type waitsKey struct{}

// Waits marks a page as one that answers a form whose call waits for an answer; href is where that is asked.
func Waits(ctx context.Context, href string) context.Context {
	return context.WithValue(ctx, waitsKey{}, href)
}

func waitsFor(ctx context.Context) string {
	href, _ := ctx.Value(waitsKey{}).(string)
	return href
}

// Moment is an entry of a timeline.
type Moment struct {
	Tone   Tone
	Icon   string
	Title  string
	Detail string
	Who    string
	At     time.Time
	Href   string
}

func itoa(n int) string { return strconv.Itoa(n) }

func ariaCurrent(on bool, what string) string {
	if on {
		return what
	}
	return "false"
}
