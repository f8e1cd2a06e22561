package daemon

import (
	"net/http"
	"strings"

	"tandem/internal/egress"
	"tandem/internal/settings"
	"tandem/internal/tool/builtin"
)

// live are the settings as they stand: those of the start, and what was changed since where a change counts at once.
func (d *Daemon) live() *settings.Settings {
	if s := d.changed.Load(); s != nil {
		return s
	}
	return d.Settings
}

// apply lets a change count at once, for the settings that are read anew each time. The caller holds mu.
func (d *Daemon) apply(key, value string) {
	if settings.Known(key).Live {
		d.changed.Store(d.live().Changed(d.data, key, value))
		if level, err := ParseLevel(d.live().Get("log.level")); err == nil {
			d.logLevel.Set(level)
		}
	}
}

// searching is how agents search the web now.
func (d *Daemon) searching() builtin.Search {
	s := d.live()
	out := builtin.Search{Backend: s.Get("search.backend"), BraveKey: s.Get("search.brave_key"), ExaKey: s.Get("search.exa_key"),
		SearXNG: strings.TrimSuffix(s.Get("search.searxng_url"), "/"), URL: s.Get("search.url")}
	// What a person configured for searching may be inside.
	out.Transport = once{(&egress.Guard{Origins: []string{out.SearXNG, out.URL}}).Transport()}
	return out
}

// once carries requests on connections that are not kept: the next search may go by another configuration.
type once struct{ http.RoundTripper }

// RoundTrip sends one request.
func (o once) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Close = true
	return o.RoundTripper.RoundTrip(r)
}
