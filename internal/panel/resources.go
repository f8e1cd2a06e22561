package panel

import (
	"net/url"
	"strconv"
	"time"

	"tandem/internal/panel/ui"
)

// ResourceRow is a shared key.
type ResourceRow struct {
	Key     string
	Value   string // as JSON
	Rev     int64
	Owner   string
	Fence   int64
	Expires time.Time // zero: it stays
	By      string
	At      time.Time
}

// ResourcesView is the shared keys, and one of them beside the list.
type ResourcesView struct {
	Now      time.Time
	Prefix   string
	Rows     []ResourceRow
	Selected *ResourceRow
	Draft    *ResourceRow // a refused edit, kept so that nothing typed is lost
	Problem  string
}

func resourceHref(prefix, key string) string {
	q := url.Values{"key": {key}}
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	return "/panel/resources?" + q.Encode()
}

func (r ResourceRow) pairs() []ui.Pair {
	ends := "never"
	if !r.Expires.IsZero() {
		ends = ui.Stamp(r.Expires)
	}
	return []ui.Pair{
		{Key: "Revision", Value: strconv.FormatInt(r.Rev, 10)},
		{Key: "Owner", Value: r.Owner},
		{Key: "Fencing token", Value: strconv.FormatInt(r.Fence, 10), Mono: true},
		{Key: "Ends", Value: ends},
		{Key: "Changed", Value: ui.Stamp(r.At)},
		{Key: "By", Value: r.By},
	}
}
