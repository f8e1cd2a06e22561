package settings

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form is what a value has to look like, in words and as a check.
type form struct {
	words string
	fits  func(value string) bool
}

var (
	number   = form{"a number", func(v string) bool { return within(v, 0, 1<<31-1) }}
	positive = form{"a number from 1", func(v string) bool { return within(v, 1, 1<<31-1) }}
	cars     = form{"a number from 1 to 16", func(v string) bool { return within(v, 1, 16) }}
	places   = form{"a number from 1 to 256", func(v string) bool { return within(v, 1, 256) }}
	port     = form{"a port from 0 to 65535", func(v string) bool { return within(v, 0, 65535) }}
	skew     = form{"a number from 0 to 60000", func(v string) bool { return within(v, 0, 60_000) }}
	lifetime = form{"a number from 1000 to 3600000", func(v string) bool { return within(v, 1000, 3_600_000) }}
	duration = form{"a duration such as 15m", func(v string) bool { d, err := time.ParseDuration(v); return err == nil && d > 0 }}
	address  = form{"HOST:PORT", func(v string) bool { _, p, err := net.SplitHostPort(v); return err == nil && within(p, 0, 65535) }}
	web      = form{"an address such as https://house.example:39731", isWeb}
	users    = form{"numbers of users, comma-separated, or any", areUsers}
	onOff    = form{"1 or 0", func(v string) bool { return slices.Contains(switches, strings.ToLower(v)) }}
)

// switches are the words that turn something on or off.
var switches = []string{"1", "true", "yes", "on", "0", "false", "no", "off"}

func isWeb(v string) bool {
	u, err := url.Parse(v)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

func areUsers(v string) bool {
	if v == "any" {
		return true
	}
	for one := range strings.SplitSeq(v, ",") {
		if !within(one, 0, 1<<31-1) {
			return false
		}
	}
	return true
}

func within(v string, least, most int) bool {
	n, err := strconv.Atoi(v)
	return err == nil && n >= least && n <= most
}
