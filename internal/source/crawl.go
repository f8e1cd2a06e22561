package source

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
)

// step is a page that would be read, and how many links lead there.
type step struct {
	at    *url.URL
	depth int
}

var errAsked = fault.New(fault.Exhausted, "source", "the server was asked as often as the budget allows")

// list reads the first page, and from link to link the others of the same server, as deep and as many as was said. Whatever the server
// answers, it is asked a bounded number of times. When the time is over what was read is kept, and the rest is unread.
func (s *site) list(ctx context.Context) (*listing, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	if err := s.ask(ctx); err != nil {
		return nil, err
	}
	out, seen := &listing{}, map[string]bool{s.start.String(): true}
	room, more := s.most+listedLeft, 0 // in the queue, all in all
	for queue := []step{{s.start, 0}}; len(queue) > 0; queue = queue[1:] {
		now := queue[0]
		if len(out.files) >= s.from.Pages || s.bytes >= maxSite || s.asked >= s.most {
			if more++; more <= listedLeft {
				out.leave(now.at.String(), s.beyond)
			}
			continue
		}
		links, err := s.page(ctx, now.at, seen, out)
		switch late := errors.Is(ctx.Err(), context.DeadlineExceeded); {
		case err == nil:
		case late && now.depth > 0:
			for _, rest := range queue[:min(len(queue), listedLeft)] {
				out.unsure(rest.at.String(), "there was no time left to read it")
			}
			return out, nil
		case late:
			return nil, fault.New(fault.Unavailable, "source", "%s was not read in time", now.at.Host)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case now.depth == 0: // without its first page there is no site
			return nil, err
		case errors.Is(err, errAsked):
			out.leave(now.at.String(), s.beyond)
		default:
			out.unsure(now.at.String(), fault.Public(err).Msg)
		}
		if now.depth >= s.from.Depth {
			continue
		}
		for _, u := range links {
			key := u.String()
			switch {
			case !s.same(u) || !storable(key) || seen[key]:
			case !s.robots.allows(u):
				if len(out.left) < maxLeft {
					seen[key] = true
					out.leave(key, "the site's robots.txt keeps programs from it")
				}
			case room > 0:
				room--
				seen[key] = true
				queue = append(queue, step{u, now.depth + 1})
			}
		}
	}
	return out, nil
}

// storable says whether an address can be kept.
func storable(address string) bool { return len(address) <= maxAddress && utf8.ValidString(address) }

// count notes that the server is asked once more, and refuses it when that is too often.
func (s *site) count() error {
	if s.asked++; s.asked > s.most {
		return errAsked
	}
	return nil
}

// rest waits as long as the site asks for between two pages.
func (s *site) rest(ctx context.Context) error {
	select {
	case <-time.After(s.pace):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lostTime bounds how long pages are asked for to which no link led.
const lostTime = 5 * time.Minute

// lost are those of some documents that are not there any more although something failed: of a site, pages that answer so themselves, and
// those that programs are kept from now. Of other origins nothing is known then.
func lost(ctx context.Context, from origin, missed []file) []file {
	s, ok := from.(*site)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lostTime)
	defer cancel()
	s.most = s.asked + s.from.Pages
	return slices.DeleteFunc(missed, func(f file) bool {
		u, err := url.Parse(f.path)
		if err != nil || !s.robots.allows(u) {
			return false
		}
		if s.asked >= s.most || s.rest(ctx) != nil {
			return true
		}
		asked, cancel := context.WithTimeout(ctx, pageTime)
		defer cancel()
		res, err := s.get(asked, u)
		if err != nil {
			return true
		}
		defer res.Body.Close() //nolint:errcheck // what it holds is not read
		return res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusGone
	})
}
