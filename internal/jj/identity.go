package jj

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
)

// identity is in whose name things are written.
func (e *env) identity() (*repo.Identity, error) {
	if e.who != nil {
		return e.who, nil
	}
	c := e.conf
	who := &repo.Identity{NewChangeID: repo.RandomChangeID}
	var err error
	for _, s := range []struct {
		to   *string
		name string
	}{{&who.Name, "user.name"}, {&who.Email, "user.email"}, {&who.Hostname, "operation.hostname"}, {&who.Username, "operation.username"}} {
		if *s.to, _, err = c.String(s.name); err != nil {
			return nil, err
		}
	}
	if who.Now, err = e.clock("debug.commit-timestamp"); err != nil {
		return nil, err
	}
	if who.OpNow, err = e.clock("debug.operation-timestamp"); err != nil {
		return nil, err
	}
	if n, ok, err := c.Int("debug.randomness-seed"); err != nil {
		return nil, err
	} else if ok {
		who.NewChangeID = repo.SeededChangeIDs(uint64(n))
	}
	s, err := e.signer()
	if err != nil {
		return nil, err
	}
	if s.backend != "" {
		who.Sign = s.commit
	}
	e.who = who
	return who, nil
}

// timeSetting is a time given as text or as TOML's own kind of time.
func (e *env) timeSetting(name string) (string, bool, error) {
	if keys, err := config.ParseName(name); err == nil {
		if v := e.conf.Get(keys...); v != nil {
			if d, ok := v.V.(config.Date); ok {
				return string(d), true, nil
			}
		}
	}
	return e.conf.String(name)
}

func (e *env) clock(name string) (func() repo.Timestamp, error) {
	s, ok, err := e.timeSetting(name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return func() repo.Timestamp { return stamp(time.Now()) }, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		if derr := checkDateTime(s); derr != nil {
			err = errors.New(derr.Error())
		}
		return nil, e.conf.Wrong(name, err)
	}
	ts := stamp(t)
	return func() repo.Timestamp { return ts }, nil
}

func stamp(t time.Time) repo.Timestamp {
	_, off := t.Zone()
	return repo.Timestamp{Millis: t.UnixMilli(), Offset: int32(off / 60)}
}

func (e *env) localOffset() int {
	if n, err := strconv.Atoi(e.io.getenv("JJ_TZ_OFFSET_MINS")); err == nil {
		return n
	}
	_, off := time.Now().Zone()
	return off / 60
}

// commandLine is the command as operations record it.
func (e *env) commandLine() string {
	words := []string{"jj"}
	for _, a := range e.args {
		words = append(words, shellQuote(a))
	}
	return strings.Join(words, " ")
}

// shellQuote quotes an argument the way operations record it. It is a record
// for people: jj does not escape it well enough for a shell.
func shellQuote(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(",-./:@_", c) >= 0) {
			return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
		}
	}
	return s
}
