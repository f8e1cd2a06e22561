package source

import (
	"bufio"
	"bytes"
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// agent is how tandem names itself to servers.
const agent = "tandem"

// robots is what a site asks of programs (RFC 9309): the rules of the group that names this one, else of the group for all.
type robots struct {
	rules []robotsRule
	delay time.Duration
}

type robotsRule struct {
	path  string
	allow bool
}

// maxDelay is how long a site may ask to wait between two pages.
const maxDelay = 10 * time.Second

// parseRobots reads a robots.txt.
func parseRobots(data []byte) robots {
	var all, own robots
	var named, ours, theirs bool // the last line named a program; the group is ours; or everybody's
	found := false
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if key == "user-agent" {
			if !named {
				ours, theirs = false, false
			}
			named = true
			ours, theirs = ours || strings.EqualFold(value, agent), theirs || value == "*"
			found = found || ours
			continue
		}
		named = false
		for _, group := range []struct {
			in   bool
			into *robots
		}{{ours, &own}, {theirs, &all}} {
			if group.in {
				group.into.take(key, value)
			}
		}
	}
	if found {
		return own
	}
	return all
}

func (r *robots) take(key, value string) {
	switch key {
	case "allow", "disallow":
		if value != "" {
			r.rules = append(r.rules, robotsRule{value, key == "allow"})
		}
	case "crawl-delay":
		if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 {
			r.delay = min(maxDelay, time.Duration(min(n, 60)*float64(time.Second)))
		}
	}
}

// allows says whether a page may be asked for: the longest rule that fits decides, and of two as long the one that allows.
func (r *robots) allows(u *url.URL) bool {
	path := cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	best, allowed := -1, true
	for _, rule := range r.rules {
		if fits(rule.path, path) && (len(rule.path) > best || len(rule.path) == best && rule.allow) {
			best, allowed = len(rule.path), rule.allow
		}
	}
	return allowed
}

// fits matches a rule: * is any characters, $ at the end the end. Each part is looked for behind the one before, so it takes one pass.
func fits(rule, path string) bool {
	ends := strings.HasSuffix(rule, "$")
	parts := strings.Split(strings.TrimSuffix(rule, "$"), "*")
	rest, ok := strings.CutPrefix(path, parts[0])
	if !ok {
		return false
	}
	for i, part := range parts[1:] {
		if ends && i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return !ends || rest == ""
}
