package identity

import "context"

// Site is the panel's address in a browser. A passkey belongs to a host and answers only pages of that origin. It is made of
// the listener's own address, never of what a request says of itself.
type Site struct {
	Host   string `json:"host"`   // tandem.localhost
	Origin string `json:"origin"` // http://tandem.localhost:39731
	Near   bool   `json:"-"`      // reached over this machine's own loopback, with nobody between
}

type siteKey struct{}

// WithSite notes at which of our addresses a request arrived.
func WithSite(ctx context.Context, s Site) context.Context {
	return context.WithValue(ctx, siteKey{}, s)
}

// SiteFrom is that address; one without a host where nobody noted it, under which no passkey works.
func SiteFrom(ctx context.Context) Site {
	s, _ := ctx.Value(siteKey{}).(Site)
	return s
}
