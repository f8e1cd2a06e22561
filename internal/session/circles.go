package session

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// Cause is what ended a turn, where a program acts on it. Its reason is for people.
type Cause string

// Circling ended a turn whose agent made the same calls again and again.
const Circling Cause = "circling"

// CauseOf is what an error is to a turn that it ends.
func CauseOf(err error) Cause {
	var c Circled
	if errors.As(err, &c) {
		return Circling
	}
	return ""
}

// longest is how many calls a circle may have: read, list, read, list goes round as well as read, read.
const longest = 3

// Lately is how many of the newest calls show a circle that was gone round so often.
func Lately(times int) int { return longest * times }

// Made is a call that was made, and what it brought.
type Made struct {
	Tool string
	sum  [sha256.Size]byte
}

// MadeOf is a call with its arguments and its outcome. It keeps their sum alone.
func MadeOf(tool, args, outcome string) Made {
	h := sha256.New()
	for _, part := range []string{tool, args, outcome} {
		one := sha256.Sum256([]byte(part))
		h.Write(one[:])
	}
	m := Made{Tool: tool}
	h.Sum(m.sum[:0])
	return m
}

// Circle is calls that were made again and again in one order, and brought the same each time.
type Circle struct {
	Tools []string // in their order
	Times int
}

// CircleIn is the circle in which calls end that was gone round so often, the shortest if there are several; nil where they end in none.
func CircleIn(calls []Made, times int) *Circle {
	for n := 1; n <= longest && n*times <= len(calls); n++ {
		last := calls[len(calls)-n*times:]
		same := true
		for i := n; i < len(last) && same; i++ {
			same = last[i] == last[i-n]
		}
		if !same {
			continue
		}
		c := &Circle{Times: times}
		for _, m := range last[:n] {
			c.Tools = append(c.Tools, m.Tool)
		}
		return c
	}
	return nil
}

// Fault is why a turn is ended that goes round in it.
func (c *Circle) Fault() *fault.Error {
	names := make([]string, len(c.Tools))
	for i, t := range c.Tools {
		names[i] = fault.Clip(t, 60)
	}
	one := "the agent called %s %d times with the same arguments and the same result"
	if len(names) > 1 {
		one = "the agent called %s %d times in turn, with the same arguments and the same results"
	}
	return fault.New(fault.Exhausted, "session.loop", one, strings.Join(names, ", "), c.Times).
		WithNext("tell it what to do differently")
}

// Circled is an error that ends a turn for its circle.
type Circled struct{ *Circle }

func (c Circled) Error() string { return c.Fault().Error() }

// Unwrap is what is told of it.
func (c Circled) Unwrap() error { return c.Fault() }

// Rounds sees circles in calls as they are made. It remembers as many as the longest circle needs.
type Rounds struct {
	Times int // how often a circle is gone round until it is one
	made  []Made
}

// Took takes the next call, and is the circle in which they end by now.
func (r *Rounds) Took(m Made) *Circle {
	if most := Lately(r.Times); len(r.made) >= most {
		r.made = slices.Delete(r.made, 0, len(r.made)-most+1)
	}
	r.made = append(r.made, m)
	return CircleIn(r.made, r.Times)
}
