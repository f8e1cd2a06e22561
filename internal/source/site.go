package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/decode"
	"tandem/internal/source/wire"
)

// Bounds of a site.
const (
	maxSiteDepth = 10
	maxPages     = 1000
	usualPages   = 100
	maxPage      = 4 << 20  // bytes of one page
	maxSite      = 64 << 20 // bytes of all
	maxRobots    = 512 << 10
	maxAddress   = 1000
	pageTime     = 30 * time.Second
	siteTime     = 20 * time.Minute
	previewPages = 20
	previewSite  = 30 * time.Second
	listedLeft   = 20  // pages beyond the budget that are named
	maxLeft      = 200 // pages that robots.txt keeps programs from, and are named
	pace         = 200 * time.Millisecond
)

// resolveSite reads the address of a page or a site. One that leads inside is a person's decision, of the house's own people.
func (r *Room) resolveSite(ctx context.Context, f wire.From) (resolved, error) {
	u, err := url.Parse(f.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || len(f.URL) > maxAddress ||
		!utf8.ValidString(f.URL):
		return resolved{}, bad("%.100q is not an http or https address without a password", f.URL)
	case f.Depth < 0 || f.Depth > maxSiteDepth:
		return resolved{}, bad("links are followed 0 to %d steps deep", maxSiteDepth)
	case f.Pages < 0 || f.Pages > maxPages:
		return resolved{}, bad("a site has 1 to %d pages", maxPages)
	}
	f.Inside = f.Inside || egress.PlainlyInside(f.URL)
	if f.Inside && !r.Inside(op.CallerFrom(ctx).Tenant) {
		return resolved{}, fault.New(fault.Denied, "source", "%s is inside the machine or network of this server, which is not yours", u.Host)
	}
	u.Fragment, u.RawFragment, u.Host = "", "", strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	if f.Pages == 0 {
		f.Pages = usualPages
	}
	if f.Depth == 0 {
		f.Pages = 1
	}
	return resolved{From: wire.From{URL: u.String(), Depth: f.Depth, Pages: f.Pages, Inside: f.Inside}}, nil
}

// briefly is a place of which no more is read than a preview shows.
func (p resolved) briefly() resolved {
	if p.URL != "" {
		p.brief, p.within = p.Pages > previewPages, previewSite
		p.Pages = min(p.Pages, previewPages)
	}
	return p
}

// site is what is read of one server, from one page on.
type site struct {
	start  *url.URL
	from   wire.From
	client *http.Client
	robots robots
	pages  map[string][]byte
	bytes  int
	asked  int    // how often, robots.txt and redirects included
	most   int    // how often it may be
	beyond string // why a page is not read that is one too many
	pace   time.Duration
	within time.Duration
}

func openSite(p resolved) (origin, error) {
	start, err := url.Parse(p.URL)
	if err != nil {
		return nil, bad("%.100q is not an address", p.URL)
	}
	s := &site{start: start, from: p.From, pages: map[string][]byte{}, pace: pace, most: 2*p.Pages + 20, within: cmp.Or(p.within, siteTime)}
	if s.beyond = fmt.Sprintf("it is beyond the budget of %d pages and 64 MB", p.Pages); p.brief {
		s.beyond = fmt.Sprintf("a preview reads no more than %d pages", previewPages)
	}
	guard := &egress.Guard{}
	if p.Inside {
		guard.Origins, s.pace = []string{start.Scheme + "://" + start.Host}, 0
	}
	s.client = &http.Client{Transport: guard.Transport(), CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > 5 || !s.same(next.URL) {
			return http.ErrUseLastResponse
		}
		return s.count()
	}}
	return s, nil
}

func (s *site) close() { s.client.CloseIdleConnections() }

func (s *site) read(_ context.Context, f found) ([]byte, error) { return s.pages[f.path], nil }

func (s *site) head(_ context.Context, f found) []byte {
	return s.pages[f.path][:min(512, len(s.pages[f.path]))]
}

// same says whether an address is of this very server.
func (s *site) same(u *url.URL) bool {
	return u.Scheme == s.start.Scheme && strings.EqualFold(u.Host, s.start.Host) && u.User == nil
}

// ask reads the site's robots.txt. Where there is none everything may be read; where the server fails, nothing.
func (s *site) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	res, err := s.get(ctx, &url.URL{Scheme: s.start.Scheme, Host: s.start.Host, Path: "/robots.txt"})
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read, or it was not
	switch {
	case res.StatusCode >= 500:
		return fault.New(fault.Unavailable, "source", "%s answers %s for its robots.txt", s.start.Host, status(res))
	case res.StatusCode >= 300: // none, or one that is elsewhere
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxRobots))
	if err != nil {
		return fault.New(fault.Unavailable, "source", "the robots.txt of %s broke off", s.start.Host)
	}
	s.robots = parseRobots(data)
	s.pace = max(s.pace, s.robots.delay)
	return nil
}

// page reads one page into the listing, and says where it leads. An error is one of the server's or of the way there.
func (s *site) page(ctx context.Context, at *url.URL, seen map[string]bool, out *listing) ([]*url.URL, error) {
	if !s.robots.allows(at) {
		return nil, s.left(at, out, "the site's robots.txt keeps programs from it")
	}
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	asked, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	res, err := s.get(asked, at)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it was read, or it was not
	final := res.Request.URL
	final.Fragment, final.RawFragment = "", ""
	key := final.String()
	switch {
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout:
		return nil, fault.New(fault.Unavailable, "source", "%s answers %s", at, status(res))
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return nil, s.left(at, out, "it leads to another server: "+clip(res.Header.Get("Location")))
	case res.StatusCode != http.StatusOK:
		return nil, s.left(at, out, "it answers "+status(res))
	case !storable(key):
		return nil, s.left(at, out, "it leads to an address that is too long, or no text")
	case key != at.String() && seen[key]:
		return nil, nil // it is read under its own address
	case !s.robots.allows(final):
		return nil, s.left(at, out, "the site's robots.txt keeps programs from it")
	}
	seen[key] = true
	data, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	s.bytes += len(data) // of those that are not kept, too
	switch {
	case err != nil:
		return nil, fault.New(fault.Unavailable, "source", "%s broke off", at)
	case len(data) > maxPage:
		return nil, s.left(at, out, "it is larger than 4 MB")
	}
	name := nameFor(final, res.Header.Get("Content-Type"))
	said := linked{}
	if strings.HasSuffix(name, ".html") {
		said = linksOf(final, data)
	}
	said.ask(res.Header.Get("X-Robots-Tag"))
	if said.nofollow {
		said.links = nil
	}
	switch {
	case said.noindex:
		return said.links, s.left(final, out, "it asks programs to leave it out")
	case decode.Format(name, data[:min(len(data), 512)]) == "":
		return said.links, s.left(final, out, "nobody here reads this format")
	}
	s.pages[key] = data
	out.files = append(out.files, found{path: key, name: name, size: int64(len(data))})
	return said.links, nil
}

// left notes a page that is not read. The first page being that is a failure.
func (s *site) left(at *url.URL, out *listing, reason string) error {
	if len(out.files) == 0 && at.String() == s.start.String() {
		return fault.New(fault.NotFound, "source", "%s cannot be read: %s", at, reason).WithNext("name another page")
	}
	out.leave(at.String(), reason)
	return nil
}

func (s *site) get(ctx context.Context, at *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, bad("%s cannot be asked for", at)
	}
	if err := s.count(); err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "text/html, text/*;q=0.9, */*;q=0.5")
	res, err := s.client.Do(req)
	if err == nil {
		return res, nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return nil, known
	}
	return nil, fault.New(fault.Unavailable, "source", "%s cannot be reached", at.Host)
}

// endings are the formats by which servers call them.
var endings = map[string]string{"text/html": ".html", "application/xhtml+xml": ".html", "text/plain": ".txt", "text/markdown": ".md",
	"text/csv": ".csv", "application/json": ".json", "application/pdf": ".pdf",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   ".docx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         ".xlsx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx"}

// nameFor is a name by which a page's format is known: what its server says, else what its address does.
func nameFor(u *url.URL, kind string) string {
	base := path.Base(u.Path)
	media, _, _ := mime.ParseMediaType(kind)
	if end, known := endings[media]; known {
		if end == ".txt" && path.Ext(base) != "" { // a Markdown file that is served as plain text
			return base
		}
		return "page" + end
	}
	return base
}

// status is what a server answers, in words that are not its own.
func status(res *http.Response) string {
	return strings.TrimSpace(strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode))
}

func clip(s string) string { return strings.ToValidUTF8(fault.Clip(s, 200), "\uFFFD") }
